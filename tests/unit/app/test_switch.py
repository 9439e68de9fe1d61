"""`:Flemma switch` without an editor (behaviour 12.11). Its arguments are tested in config."""

import pytest

from tests.unit.app.opened_chat import OpenedChat, opened_chat

PRESETS = {
    "presets": {
        "$cheap": "anthropic claude-haiku-4-5",
        "$allow": {"auto_approve": ["bash"]},
    }
}


def model(chat: OpenedChat) -> str | None:
    return chat.services.settings.shared().config.model


async def test_completion_offers_what_can_be_switched_to() -> None:
    async with opened_chat(options=PRESETS) as chat:
        complete = chat.commands.complete_switch
        assert complete([]) == ["$cheap", "anthropic", "demo"]
        assert "claude-sonnet-4-6" in complete(["anthropic"])
        assert complete(["$cheap"]) == complete(["anthropic"])
        assert complete(["$allow"]) == []
        assert complete(["nobody"]) == []
        assert complete(["anthropic", "claude-haiku-4-5"]) == []


async def test_an_approval_preset_leaves_the_model_alone() -> None:
    async with opened_chat(options={**PRESETS, "model": "claude-haiku-4-5"}) as chat:
        await chat.run("switch", "$allow")
        assert chat.told == ["Switched to 'anthropic' with model 'claude-haiku-4-5'."]
        assert (await chat.session.settings()).policy.judge("bash") is not None


async def test_prices_below_the_threshold_or_switched_off_are_not_told() -> None:
    for pricing in ({"enabled": False}, {"high_cost_threshold": 60}):
        async with opened_chat(options={"ui": {"pricing": pricing}}) as chat:
            await chat.run("switch", "anthropic claude-fable-5")
            assert not any("Billed" in text for text in chat.told)


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ([None], "Provider selection cancelled"),
        ([0, None], "Model selection cancelled"),
        ([1], "Switched to 'demo'"),
    ],
)
async def test_pickers_may_be_left_and_a_provider_without_models_needs_one(
    answers: list[int | None], told: str
) -> None:
    async with opened_chat() as chat:
        chat.pages.answers = answers
        await chat.run("switch")
        assert told in chat.told[0]


async def test_what_cannot_be_read_changes_nothing() -> None:
    async with opened_chat() as chat:
        await chat.run("switch", "anthropic claude-haiku-4-5 temperature=warm")
        assert "parameters.temperature" in chat.told[0]
        assert model(chat) is None
