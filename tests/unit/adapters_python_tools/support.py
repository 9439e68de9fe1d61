"""Real services for code of users, without an editor."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flemma import extensions
from flemma.adapters.composition import FrontEnd, compose
from flemma.adapters.no_buffers import NoOpenBuffers
from flemma.adapters.python_modules import PythonModules
from flemma.adapters.supervisor import Supervisor
from flemma.app.services import Services
from tests.unit.app.store_support import ToldScreen


@dataclass(frozen=True)
class Started:
    """What was composed, with everything loaded."""

    services: Services
    screen: ToldScreen
    modules: PythonModules

    @property
    def told(self) -> list[str]:
        """What the user was told."""
        return [message for message, _ in self.screen.told]


@asynccontextmanager
async def started(
    directory: Path,
    *modules: str,
    lua_modules: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
) -> AsyncIterator[Started]:
    """Compose, load ``modules`` and wait until all tools are known."""
    extensions.forget()
    screen = ToldScreen()
    tasks = Supervisor(lambda text: screen.notify(text))
    composition = compose(
        FrontEnd(
            screen=screen,
            tasks=tasks,
            buffers=NoOpenBuffers(),
            working_directory=str(directory),
            options={"tools": {"modules": list(modules)}, **(options or {})},
        )
    )
    loading = PythonModules(composition.services, lua_modules)
    try:
        loading.start()
        await composition.services.tool_sources.ready()
        yield Started(composition.services, screen, loading)
    finally:
        composition.end()
        await tasks.stop(5)
        extensions.forget()
