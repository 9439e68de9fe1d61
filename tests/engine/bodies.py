"""Reads request bodies of the Messages API."""

from typing import Any


def results(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the tool results of a body by call id, in order."""
    return {
        block["tool_use_id"]: block
        for block in _blocks(body, "user")
        if block["type"] == "tool_result"
    }


def calls(body: dict[str, Any]) -> list[str]:
    """Return the ids of the calls of a body, in order."""
    return [block["id"] for block in _blocks(body, "assistant") if block["type"] == "tool_use"]


def said(body: dict[str, Any], role: str = "user") -> list[str]:
    """Return the texts of a role, in order."""
    return [block["text"] for block in _blocks(body, role) if block["type"] == "text"]


def result_text(block: dict[str, Any]) -> str:
    """Return the text of a tool result."""
    content = block["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def _blocks(body: dict[str, Any], role: str) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for entry in body["messages"]:
        if entry["role"] == role:
            content = entry["content"]
            blocks += [{"type": "text", "text": content}] if isinstance(content, str) else content
    return blocks
