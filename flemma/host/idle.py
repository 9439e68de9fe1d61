"""Loads slow libraries after the first paint, so that nobody waits for them at the first send."""

import asyncio
import gc
from collections.abc import Callable
from importlib import import_module

from flemma.host import memory
from flemma.ports.tasks import Tasks

DELAY = 0.4
"""Seconds after the handshake."""

MODULES = (
    "flemma.app.session",
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


def load_in_idle_moment(tasks: Tasks, before: Callable[[], None]) -> None:
    """Import, one after the other and in a thread, what a first send needs.

    ``before`` is called first, when nobody waits for the host any more.
    """
    tasks.spawn(_load(before), "loading of libraries")


async def _load(before: Callable[[], None]) -> None:
    await asyncio.sleep(DELAY)
    before()
    for name in MODULES:
        await asyncio.to_thread(import_module, name)
    # In the manifest way the process is not ours, and was never told to leave garbage alone.
    if not gc.isenabled():
        memory.settle()
