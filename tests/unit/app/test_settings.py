"""The settings of a chat: when its block is evaluated, and what stays in force (behaviour 1.2)."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from flemma.app import settings as settings_module
from flemma.app.settings import BufferSettings, SettingsStore
from flemma.chat.document import Document
from flemma.chat.nodes import Severity
from flemma.chat.parser import parse
from flemma.config.frontmatter.result import FrontmatterContext
from flemma.config.layers import Layer
from flemma.config.setup import read_setup
from flemma.tools.builtin import builtin_definitions
from flemma.tools.definition import ToolDefinition
from flemma.tools.registry import ToolRegistry
from tests.unit.config.support import op

BUFFER = 1
THREE = "flemma.opt.tools.max_concurrent = 3"


class Loading:
    """Whether tool sources are loading."""

    now = False

    def __call__(self) -> bool:
        return self.now


def store(options: Mapping[str, object] | None = None, loading: Loading | None = None):
    tools = ToolRegistry()
    for definition in builtin_definitions():
        tools.register(definition)
    made = SettingsStore(tools, loading=loading or Loading())
    made.tools_changed()
    tools.subscribe(made.tools_changed)
    operations, errors = read_setup(options or {}, made.known)
    assert errors == ()
    made.set_layer(Layer.SETUP, operations)
    return made


def chat(code: str, language: str = "lua") -> Document:
    return parse(f"```{language}\n{code}\n```\n@You:\nHi\n")


def told(settings: BufferSettings) -> list[tuple[int, str]]:
    return [(problem.line, problem.message) for problem in settings.diagnostics]


async def test_a_block_that_cannot_be_understood_leaves_the_last_good_one_in_force() -> None:
    made = store()
    await made.evaluate(BUFFER, chat(f"{THREE}\nwho = 'you'"), {})
    broken = await made.evaluate(BUFFER, chat("flemma.opt.tools.max_concurrent = 5\nx("), {})
    assert broken.blocks_send
    assert broken.config.tools.max_concurrent == 3
    assert broken.variables == {"who": "you"}
    assert made.current(BUFFER).config.tools.max_concurrent == 3
    assert [problem.line for problem in broken.diagnostics] == [2]


async def test_a_file_that_was_never_good_has_no_settings_of_its_own() -> None:
    broken = await store().evaluate(BUFFER, chat(f"{THREE}\nx("), {})
    assert broken.config.tools.max_concurrent == 2


async def test_one_wrong_setting_leaves_the_others_of_its_block_in_force() -> None:
    settings = await store().evaluate(BUFFER, chat(f"flemma.opt.thinkin = 1\n{THREE}"), {})
    assert settings.config.tools.max_concurrent == 3
    assert told(settings) == [(1, "unknown key 'thinkin' -- did you mean 'thinking'?")]


async def test_a_removed_line_has_no_lasting_effect() -> None:
    made = store()
    await made.evaluate(BUFFER, chat(THREE), {})
    assert (await made.evaluate(BUFFER, parse("@You:\nHi\n"), {})).config.tools.max_concurrent == 2


async def test_warnings_do_not_refuse_a_send() -> None:
    settings = await store().evaluate(BUFFER, chat("[1]", "json"), {})
    assert [problem.severity for problem in settings.diagnostics] == [Severity.WARNING]
    assert not settings.blocks_send


async def test_a_block_is_only_evaluated_again_when_it_or_what_it_names_changed() -> None:
    made, runs = store(), list[str]()

    def parse_words(code: str, _context: FrontmatterContext) -> Mapping[str, Any]:
        runs.append(code)
        return {}

    made.register_language("words", parse_words)
    for _ in range(2):
        await made.refresh(BUFFER, chat("a", "words"), {})
    await made.refresh(BUFFER, chat("b", "words"), {})
    made.extend_layer(Layer.RUNTIME, [op("set", "parameters.max_tokens", 5)])
    await made.refresh(BUFFER, chat("b", "words"), {})
    await made.evaluate(BUFFER, chat("b", "words"), {})
    assert [code.strip() for code in runs] == ["a", "b", "b", "b"]


async def test_a_language_that_is_registered_later_is_used() -> None:
    made, document = store(), chat("anything", "words")
    assert told(await made.refresh(BUFFER, document, {})) == [
        (0, "Unsupported frontmatter language: words")
    ]
    made.register_language("words", lambda *_: {"flemma": {"max_tokens": 7}})
    settings = await made.refresh(BUFFER, document, {})
    assert settings.config.parameters.max_tokens == 7
    assert made.unregister_language("words")
    assert (await made.refresh(BUFFER, document, {})).blocks_send


async def test_a_language_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_module, "LANGUAGE_SECONDS", 0)
    made = store()

    async def never(*_: object) -> Mapping[str, Any]:
        await asyncio.Event().wait()
        return {}

    made.register_language("words", never)
    settings = await made.evaluate(BUFFER, chat("a", "words"), {})
    assert told(settings) == [(0, "'words' gave no answer within 0 seconds")]


async def test_a_slow_language_does_not_bring_an_older_text_back() -> None:
    made = store()
    gates = {"1": asyncio.Event(), "2": asyncio.Event()}

    async def slow(code: str, _context: FrontmatterContext) -> Mapping[str, Any]:
        await gates[code.strip()].wait()
        return {"number": code.strip()}

    made.register_language("words", slow)
    older = asyncio.ensure_future(made.evaluate(BUFFER, chat("1", "words"), {}))
    await asyncio.sleep(0)
    newer = asyncio.ensure_future(made.evaluate(BUFFER, chat("2", "words"), {}))
    await asyncio.sleep(0)
    gates["2"].set()
    await newer
    gates["1"].set()
    await older
    assert made.current(BUFFER).variables == {"number": "2"}


async def test_names_of_tools_are_checked_once_nothing_is_loading() -> None:
    # Acceptance 91, 92.
    loading = Loading()
    made = store(loading=loading)
    document = chat('flemma.opt.tools = {"bsah"}\nflemma.opt.tools:append("nothing.*")')
    loading.now = True
    assert told(await made.evaluate(BUFFER, document, {})) == []
    loading.now = False
    assert told(made.current(BUFFER)) == [
        (1, "Unknown tool 'bsah' -- did you mean 'bash'?"),
        (2, "Glob pattern 'nothing.*' matched no tools"),
    ]


async def test_a_tool_that_comes_late_is_part_of_the_selection() -> None:
    made = store()
    document = chat('flemma.opt.tools = {"slack.*"}')
    assert (await made.evaluate(BUFFER, document, {})).tool_names == ()
    made.tools.register(ToolDefinition("slack.post", "Posts", {"type": "object"}, print))
    settings = made.current(BUFFER)
    assert (settings.tool_names, told(settings)) == (("slack.post",), [])


async def test_a_preset_as_model_chooses_tools_and_approval_too() -> None:
    preset = {"provider": "anthropic", "model": "claude-haiku-4-5", "tools": ["read"]}
    made = store({"model": "$fast", "presets": {"$fast": {**preset, "auto_approve": ["ls"]}}})
    settings = made.current(BUFFER)
    assert settings.tool_names == ("read",)
    assert settings.policy.judge("read") is None
    assert settings.policy.judge("ls") is not None


def test_a_model_that_cannot_be_had_refuses_every_send() -> None:
    message = "Default preset '$fast' not found. Provider not initialized."
    settings = store({"model": "$fast"}).current(BUFFER)
    assert told(settings) == [(0, message)]
    assert settings.blocks_send


def test_names_that_nobody_registered_are_told_for_the_setup() -> None:
    options = {
        "tools": {"1": "raed", "bahs": {"cwd": "/"}},
        "presets": {"$own": {"auto_approve": ["wirte"]}},
    }
    made = store(options)
    notice = made.check_setup() or ""
    assert "unknown config keys: tools.bahs" in notice
    assert "Unknown tool 'raed' -- did you mean 'read'?" in notice
    assert "Preset '$own' references unknown tool 'wirte' in auto_approve" in notice
    assert made.shared().value(("tools", "bahs", "cwd")) == "/"


def test_who_follows_hears_of_every_change_of_what_chats_share() -> None:
    made, heard = store(), list[int]()
    made.subscribe(lambda: heard.append(1))
    made.extend_layer(Layer.RUNTIME, [op("set", "parameters.max_tokens", 5)])
    made.tools.unregister("ls")
    made.providers_known(["demo"])
    made.register_language("words", lambda *_: {})
    made.unregister_language("words")
    assert len(heard) == 5


async def test_a_closed_chat_leaves_nothing_behind() -> None:
    made = store()
    await made.evaluate(BUFFER, chat(THREE), {})
    made.forget(BUFFER)
    assert made.current(BUFFER).config.tools.max_concurrent == 2
