"""Does after the first paint what takes time, so that nobody waits for it at the first send."""

import asyncio
import gc
from collections.abc import Callable
from importlib import import_module

from flemma.app.services import Services
from flemma.host import memory
from flemma.tools import builtin

DELAY = 0.4
"""Seconds after the handshake."""

MODULES = (
    "flemma.app.session",
    *builtin.MODULES.values(),
    "flemma.providers.anthropic.provider",
    "flemma.adapters.http",
    "flemma.adapters.credentials.chain",
    "flemma.adapters.surroundings",
    "flemma.app.template_reading",
    "flemma.app.sandboxes",
    "flemma.adapters.sandbox.bubblewrap",
    "httpx",
    "jinja2.sandbox",
    "flemma.templating.engine",
    "lupa.lua51",
    "genai_prices",
)


def load_in_idle_moment(services: Services, before: Callable[[], None]) -> None:
    """Import, one after the other and in a thread, what a first send needs; probe the sandbox.

    ``before`` is called first, when nobody waits for the host any more.
    """
    services.tasks.spawn(_load(services, before), "loading of libraries")


async def _load(services: Services, before: Callable[[], None]) -> None:
    await asyncio.sleep(DELAY)
    before()
    for name in MODULES:
        await asyncio.to_thread(import_module, name)
    # In the manifest way the process is not ours, and was never told to leave garbage alone.
    if not gc.isenabled():
        memory.settle()
    sandbox = services.settings.shared().config.sandbox
    # Off is off: no backend is even probed (case K-07).
    if sandbox.enabled:
        await services.sandboxes.probe(sandbox.backend)
