"""Editors for the tests that drive a real Neovim."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.editor.chats import StartChat, chatting
from tests.support.nvim import Editor


@pytest.fixture
def start_editor() -> Iterator[Callable[..., Editor]]:
    """Start editors with arguments of one's own; all are ended after the test."""
    with ExitStack() as editors:
        yield lambda **arguments: editors.enter_context(Editor(**arguments))


@pytest.fixture
def editor(start_editor: Callable[..., Editor]) -> Editor:
    """An editor with the plugin set up and the offline provider selected."""
    return start_editor(options={"provider": "demo"})


@pytest.fixture
def start_chat() -> Iterator[StartChat]:
    """Open chats with a scripted model; afterwards each request must have been well-formed."""
    with ExitStack() as chats:
        yield lambda replies, **options: chats.enter_context(chatting(replies, **options))
