"""What modules of users register, and where it goes."""

import asyncio
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import flemma.tools
from flemma import extensions
from flemma.app.sandboxes import SandboxOptions
from flemma.app.store import StoreError
from flemma.errors import ConfigError, SandboxUnavailable
from flemma.tools.sandbox_policy import PathVariables
from tests.unit.adapters_python_tools.support import started

FIELDS: dict[str, Any] = {
    "description": "d",
    "input_schema": {"type": "object"},
    "execute": lambda tool_input, ctx: {"success": True, "output": "ran"},
}


OPTIONS = SandboxOptions(PathVariables("/", "/"), backend="own")


async def settled() -> None:
    """Let the loop take what it was handed; it does so in order."""
    await asyncio.sleep(0)


async def test_a_tool_registered_later_from_any_thread_is_known(tmp_path: Path) -> None:
    async with started(tmp_path) as running:
        thread = threading.Thread(target=lambda: flemma.tools.register("late", **FIELDS))
        thread.start()
        thread.join()
        await settled()
        assert running.services.tools.get("late") is not None
        flemma.tools.unregister("late")
        await settled()
        assert running.services.tools.get("late") is None


async def test_a_tool_registered_again_or_in_place_of_a_built_in_one_is_told(
    tmp_path: Path,
) -> None:
    async with started(tmp_path) as running:
        for name in ("mine", "mine", "read"):
            flemma.tools.register(name, **FIELDS)
        await settled()
        assert running.told == [
            f"tool '{name}' redefined (previously registered, now overwritten)"
            for name in ("mine", "read")
        ]


async def test_a_provider_can_be_chosen_once_it_is_registered(tmp_path: Path) -> None:
    provider = SimpleNamespace(name="own", display_name="Own", default_model="m")
    async with started(tmp_path) as running:
        extensions.register_provider(provider)
        await settled()
        assert running.services.providers.get("own") is provider


async def test_a_provider_whose_name_is_taken_is_refused_with_both_places(tmp_path: Path) -> None:
    async with started(tmp_path) as running:
        with extensions.registering("my_module"):
            extensions.register_provider(SimpleNamespace(name="anthropic"))
        await settled()
        (told,) = running.told
        assert "registered twice: by builtin and by my_module" in told


async def test_a_backup_strategy_moves_files_and_its_failure_is_a_reason(tmp_path: Path) -> None:
    moved: list[str] = []

    def backup(path: str) -> None:
        if path == "bad":
            raise OSError("disk full")
        moved.append(path)

    async with started(tmp_path) as running:
        extensions.register_backup("mine", backup)
        await settled()
        strategy = running.services.backups.find("mine")
        await strategy("/a/file")
        assert moved == ["/a/file"]
        with pytest.raises(StoreError, match="disk full"):
            await strategy("bad")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(None, None), (True, None), ("no kernel support", "no kernel support")],
)
async def test_a_sandbox_says_whether_it_can_be_used(
    tmp_path: Path, answer: object, reason: str | None
) -> None:
    async with started(tmp_path) as running:
        extensions.register_sandbox("own", lambda: answer, lambda policy, argv: argv, priority=900)
        await settled()
        resolution = await running.services.sandboxes.resolve(OPTIONS)
        assert resolution.reason == reason
        assert resolution.active is (reason is None)


@pytest.mark.parametrize("wrapped", [None, [], "text"])
async def test_a_sandbox_that_returns_no_command_runs_nothing(
    tmp_path: Path, wrapped: object
) -> None:
    async with started(tmp_path) as running:
        extensions.register_sandbox("own", lambda: None, lambda policy, argv: wrapped)
        await settled()
        with pytest.raises(SandboxUnavailable, match="returned no command"):
            await running.services.sandboxes.wrap(OPTIONS, ["true"])


async def test_a_resolver_with_a_reserved_name_is_refused(tmp_path: Path) -> None:
    async with started(tmp_path) as running:
        extensions.register_resolver("urn:flemma:approval:mine", lambda *call: "approve")
        await settled()
        (told,) = running.told
        assert "is reserved" in told


def test_what_is_no_function_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="'resolve' has to be a function, got str"):
        extensions.register_resolver("x", "approve")  # pyright: ignore[reportArgumentType]


async def test_a_module_named_in_code_is_loaded_like_one_in_the_options(tmp_path: Path) -> None:
    (tmp_path / "second.py").write_text(
        "import flemma.tools\n"
        "flemma.tools.register('second', description='d', input_schema={'type': 'object'},"
        " execute=print)\n"
    )
    (tmp_path / "first.py").write_text("import flemma.tools\nflemma.tools.register('second.py')\n")
    async with started(tmp_path, "first.py") as running:
        assert running.told == []
        assert running.services.tools.get("second") is not None


async def test_modules_of_lua_are_left_to_lua(tmp_path: Path) -> None:
    async with started(tmp_path, "my_plugin.tools", lua_modules=["my_plugin.tools"]) as running:
        assert running.told == []
        running.modules.load(lua_modules=[])
        await running.services.tool_sources.ready()
        (told,) = running.told
        assert told.startswith("Module 'my_plugin.tools' could not be loaded: ")


def test_an_unknown_kind_cannot_be_taken_back() -> None:
    with pytest.raises(ValueError, match="spell"):
        extensions.unregister("spell", "x")


def test_unknown_fields_are_configuration_errors() -> None:
    with pytest.raises(ConfigError, match="unknown field"):
        flemma.tools.register("x", **FIELDS, colour="red")
