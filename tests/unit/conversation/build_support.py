"""Builds conversations from chat text with files in a dictionary."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from flemma.chat.parser import parse
from flemma.conversation.build import BuiltConversation, build
from flemma.conversation.references import Place
from flemma.templating.evaluation import Evaluation, TemplateSetting
from flemma.templating.files import Unreadable

NOW = datetime(2026, 1, 2, 15, 4, tzinfo=UTC)


class FilesInMemory:
    """Files by absolute path."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files

    def read(self, path: str) -> bytes | Unreadable:
        content = self.files.get(path)
        return Unreadable("No such file or directory", missing=True) if content is None else content


def evaluation(files: Mapping[str, bytes] | None = None, **variables: Any) -> Evaluation:
    place = Place("/chats/a.chat", "/chats", "/home/me")
    return Evaluation(TemplateSetting(place, FilesInMemory(files or {}), NOW, variables))


def built(
    text: str, files: Mapping[str, bytes] | None = None, **variables: Any
) -> BuiltConversation:
    return build(parse(text), evaluation(files, **variables), lambda name: name == "read")
