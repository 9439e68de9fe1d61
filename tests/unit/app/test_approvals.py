"""What the app adds to the chain: sandbox, harness parameters, memory (spec: behaviour 3)."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from flemma.app.calls import calls_of
from flemma.approval.decision import Verdict
from flemma.approval.resolvers import Resolver
from flemma.errors import Interrupted
from flemma.ports.sandbox import SandboxPolicy
from tests.unit.app.opened_chat import OpenedChat, opened_chat

CHAT = """@You:
Hi

@Assistant:
**Tool Use:** `bash` (`toolu_1`)
```json
{"label": "x", "command": "ls", "flemma.background": true, "flemma.save_to": "out.txt"}
```
"""
SANDBOX = "urn:flemma:approval:sandbox"


class Backend:
    """A sandbox that is always there."""

    name = "here"
    priority = 200

    async def available(self) -> str | None:
        return None

    async def wrap(self, policy: SandboxPolicy, argv: Sequence[str]) -> Sequence[str]:
        del policy
        return argv


async def verdict(chat: OpenedChat) -> tuple[Verdict, str]:
    settings = await chat.session.settings()
    (call,) = calls_of(chat.session.buffer.document)
    decision = await chat.session.approvals.decision(call, settings)
    return decision.verdict, decision.resolver


@pytest.mark.parametrize(
    ("options", "frontmatter", "session", "approved"),
    [
        # Acceptance 62; the word of the session goes before everything (behaviour 13.1).
        ({}, "", None, True),
        ({"sandbox": False}, "", None, False),
        ({}, "flemma.opt.sandbox.enabled = false", None, False),
        ({"sandbox": False}, "", "enable", True),
        ({}, "flemma.opt.sandbox.enabled = false", "enable", True),
        ({}, "", "disable", False),
    ],
)
async def test_the_sandbox_that_holds_for_the_chat_decides(
    options: Mapping[str, Any], frontmatter: str, session: str | None, approved: bool
) -> None:
    text = f"```lua\n{frontmatter}\n```\n{CHAT}" if frontmatter else CHAT
    async with opened_chat(text, options) as chat:
        sandboxes = chat.services.sandboxes
        sandboxes.register(Backend())
        if session == "enable":
            settings = await chat.session.settings()
            await sandboxes.enable(chat.session.contexts.sandbox_options(settings))
        elif session == "disable":
            sandboxes.disable()
        found = await verdict(chat)
    expected = (Verdict.APPROVE, SANDBOX) if approved else (Verdict.REQUIRE_APPROVAL, "default")
    assert found == expected


async def test_resolvers_see_the_input_without_harness_parameters() -> None:
    seen: list[Mapping[str, Any]] = []

    def look(_tool: str, tool_input: Mapping[str, Any], context: Any) -> str:
        seen.append({**tool_input, **context.public()})
        return "deny"

    async with opened_chat(CHAT) as chat:
        chat.services.resolvers.register(Resolver("look", look, 200))
        assert await verdict(chat) == (Verdict.DENY, "look")
    assert seen == [{"label": "x", "command": "ls", "bufnr": 1, "tool_id": "toolu_1"}]


async def test_what_fails_is_logged_and_the_decision_is_remembered(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    async with opened_chat(CHAT, {"sandbox": False}) as chat:
        chat.services.resolvers.register(Resolver("odd", lambda *_: "maybe", 200))
        calls = calls_of(chat.session.buffer.document)
        approvals = chat.session.approvals
        assert approvals.remembered(calls[0].key) is None
        verdicts = await approvals.decide(calls, await chat.session.settings())
        assert verdicts == {calls[0].key: Verdict.REQUIRE_APPROVAL}
        remembered = approvals.remembered(calls[0].key)
    assert remembered is not None
    assert [step.resolver for step in remembered.problems] == ["odd"]
    assert "approval resolver odd: 'maybe' is none of" in caplog.text


async def test_an_interrupted_resolver_leaves_the_call_undecided() -> None:
    async def interrupted(*_: object) -> str:
        raise Interrupted("Interrupted by Ctrl-C.")

    async with opened_chat(CHAT) as chat:
        chat.services.resolvers.register(Resolver("slow", interrupted, 200))
        with pytest.raises(Interrupted):
            await verdict(chat)
