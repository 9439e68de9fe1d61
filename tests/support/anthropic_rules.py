"""What the Messages API refuses, written down independently of the request builder.

`violations(headers, body)` returns one sentence per broken rule (spec: providers 1.2 to 1.7).
"""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
TOP_LEVEL = {
    "model", "max_tokens", "stream", "system", "messages", "tools", "tool_choice", "thinking",
    "output_config", "metadata", "stop_sequences", "service_tier", "cache_control", "temperature",
    "top_p", "top_k",
}  # fmt: skip
IMAGES = {"image/png", "image/jpeg", "image/gif", "image/webp"}
BLOCKS = {
    "user": {"text", "image", "document", "tool_result"},
    "assistant": {"text", "thinking", "redacted_thinking", "tool_use"},
}
ALWAYS_THINKING = ("claude-fable-5", "claude-mythos-5", "claude-opus-5-5")
NO_SAMPLING = (*ALWAYS_THINKING, "claude-sonnet-5", "claude-haiku-5", "claude-opus-5",
               "claude-opus-4-8", "claude-opus-4-7")  # fmt: skip
BUDGET_ONLY = ("claude-opus-4-5", "claude-sonnet-4-5", "claude-haiku-4-5")


def violations(headers: Mapping[str, str], data: bytes) -> list[str]:
    """Return what is wrong with a request, in reading order."""
    try:
        body = json.loads(data.decode("utf-8"), parse_constant=_no_constant)
    except ValueError as problem:
        return [f"body is not valid JSON: {problem}"]
    if not isinstance(body, dict):
        return ["body must be an object"]
    return [
        *_header_rules(headers),
        *_surrogates(data),
        *_top_level(body),
        *_thinking_setting(body),
        *_tools(body),
        *_messages(body),
        *_breakpoints(body),
    ]


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _surrogates(data: bytes) -> Iterator[str]:
    decoded = json.dumps(json.loads(data), ensure_ascii=False)
    if any("\ud800" <= character <= "\udfff" for character in decoded):
        yield "no low surrogate in string"


def _header_rules(headers: Mapping[str, str]) -> Iterator[str]:
    if not headers.get("x-api-key") and not headers.get("authorization", "").startswith("Bearer "):
        yield "authentication: neither x-api-key nor a bearer token"
    if "anthropic-version" not in headers:
        yield "anthropic-version: header is required"
    if not headers.get("content-type", "").startswith("application/json"):
        yield "content-type must be application/json"


def _top_level(body: Mapping[str, Any]) -> Iterator[str]:
    for key in sorted(set(body) - TOP_LEVEL):
        yield f"{key}: Extra inputs are not permitted"
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "model: field required"
    if type(body.get("max_tokens")) is not int or body["max_tokens"] < 1:
        yield "max_tokens: a positive integer is required"
    if body.get("stream") is not True:
        yield "stream: must be true"
    system = body.get("system")
    if system is not None:
        blocks = [{"type": "text", "text": system}] if isinstance(system, str) else system
        if not blocks or any(not block.get("text", "").strip() for block in blocks):
            yield "system: text content blocks must be non-empty"


def _model_in(body: Mapping[str, Any], prefixes: tuple[str, ...]) -> bool:
    model = str(body.get("model"))
    return any(model == prefix or model.startswith(prefix + "-") for prefix in prefixes)


def _thinking_setting(body: Mapping[str, Any]) -> Iterator[str]:
    thinking = body.get("thinking")
    kind = thinking.get("type") if isinstance(thinking, dict) else None
    if kind == "enabled":
        budget = thinking.get("budget_tokens")
        if type(budget) is not int or budget < 1024:
            yield "thinking.budget_tokens: must be at least 1024"
        elif budget >= body.get("max_tokens", 0):
            yield "thinking.budget_tokens: must be less than max_tokens"
        if _model_in(body, NO_SAMPLING):
            yield "thinking.type: enabled is not supported on this model"
    if kind == "adaptive" and _model_in(body, BUDGET_ONLY):
        yield "thinking.type: adaptive is not supported on this model"
    if kind in ("disabled", "between_tools") and _model_in(body, ALWAYS_THINKING):
        yield f"thinking.type: {kind} is not supported on this model"
    sampling = [key for key in ("temperature", "top_p", "top_k") if key in body]
    if sampling and (kind == "enabled" or _model_in(body, NO_SAMPLING)):
        yield f"{sampling[0]}: may not be set here"
    effort = body.get("output_config", {}).get("effort")
    if effort not in (None, "low", "medium", "high", "xhigh", "max"):
        yield f"output_config.effort: {effort!r} is not an effort"
    if effort and _model_in(body, ("claude-sonnet-4-5", "claude-haiku-4-5")):
        yield "output_config.effort: not supported on this model"


def _tools(body: Mapping[str, Any]) -> Iterator[str]:
    tools = body.get("tools")
    if tools is None:
        if "tool_choice" in body:
            yield "tool_choice: only with tools"
        return
    if not tools:
        yield "tools: must not be empty"
    names = [tool.get("name", "") for tool in tools]
    if len(set(names)) != len(names):
        yield "tools: Tool names must be unique."
    for index, tool in enumerate(tools):
        if not ID.fullmatch(tool.get("name", "")):
            yield f"tools.{index}.name: bad name {tool.get('name')!r}"
        schema = tool.get("input_schema")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            yield f"tools.{index}.input_schema: must be an object schema"
        elif {"oneOf", "anyOf", "allOf"} & set(schema):
            yield "input_schema does not support oneOf, allOf, or anyOf at the top level"
        elif not isinstance(schema.get("properties", {}), dict):
            yield f"tools.{index}.input_schema.properties: must be an object"


def _messages(body: Mapping[str, Any]) -> Iterator[str]:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "messages: at least one message is required"
        return
    if messages[0].get("role") != "user":
        yield "messages: first message must use the user role"
    if messages[-1].get("role") == "assistant":
        yield "messages: the conversation must end with a user message"
    seen: set[str] = set()
    for index, message in enumerate(messages):
        yield from _message(index, message)
        blocks = _blocks(message)
        yield from _unique_ids(index, blocks, seen)
        if message.get("role") == "assistant":
            following = messages[index + 1] if index + 1 < len(messages) else {}
            yield from _answered(index, blocks, following)
        previous = messages[index - 1] if index else {}
        yield from _called(index, blocks, previous)


def _blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])


def _message(index: int, message: Mapping[str, Any]) -> Iterator[str]:
    role = str(message.get("role"))
    if role not in BLOCKS:
        yield f"messages.{index}.role: {role!r} is no role"
        return
    blocks = _blocks(message)
    if not blocks:
        yield f"messages.{index}: all messages must have non-empty content"
    for at, block in enumerate(blocks):
        where = f"messages.{index}.content.{at}"
        if block.get("type") not in BLOCKS[role]:
            yield f"{where}: {block.get('type')!r} is not allowed in a {role} message"
        yield from _block(where, block)
    kinds = [str(block.get("type")) for block in blocks]
    thinks = any("thinking" in kind for kind in kinds)
    if role == "assistant" and thinks and "thinking" not in kinds[0]:
        yield f"messages.{index}: thinking must come first in an assistant message"
    if role == "assistant" and kinds and "thinking" in kinds[-1]:
        yield f"messages.{index}: The final block in an assistant message cannot be `thinking`."
    if role == "user" and "tool_result" in kinds[kinds.count("tool_result") :]:
        yield f"messages.{index}: tool_result blocks must come first"


def _block(where: str, block: Mapping[str, Any]) -> Iterator[str]:
    match block.get("type"):
        case "text":
            if not isinstance(block.get("text"), str) or not block["text"].strip():
                yield f"{where}: text content blocks must contain non-whitespace text"
        case "thinking":
            if not isinstance(block.get("thinking"), str) or not block.get("signature"):
                yield f"{where}.signature: field required"
        case "redacted_thinking":
            if not block.get("data"):
                yield f"{where}.data: field required"
        case "tool_use":
            if not isinstance(block.get("input"), dict):
                yield f"{where}.input: Input should be an object"
            for key in ("id", "name"):
                if not ID.fullmatch(str(block.get(key, ""))):
                    yield f"{where}.{key}: String should match pattern '^[a-zA-Z0-9_-]+$'"
        case "image" | "document":
            yield from _source(where, block)
        case "tool_result":
            yield from _result(where, block)


def _source(where: str, block: Mapping[str, Any]) -> Iterator[str]:
    source = block.get("source", {})
    allowed = IMAGES if block["type"] == "image" else {"application/pdf"}
    if source.get("media_type") not in allowed:
        yield f"{where}.source.media_type: {source.get('media_type')!r} is not supported"
    try:
        base64.b64decode(source.get("data", "!"), validate=True)
    except ValueError:
        yield f"{where}.source.data: invalid base64"


def _result(where: str, block: Mapping[str, Any]) -> Iterator[str]:
    content = block.get("content")
    if isinstance(content, str):
        if not content.strip():
            yield f"{where}.content: must not be blank"
        return
    if content is None:
        if block.get("is_error"):
            yield f"{where}.content: content cannot be empty if `is_error` is true"
        return
    if not content:
        yield f"{where}.content: list must not be empty"
    for at, part in enumerate(content):
        if part.get("type") not in ("text", "image", "document"):
            yield f"{where}.content.{at}: {part.get('type')!r} is not allowed in a result"
        elif block.get("is_error") and part["type"] != "text":
            yield f"{where}.content.{at}: error results must be text only"
        yield from _block(f"{where}.content.{at}", part)


def _unique_ids(index: int, blocks: list[dict[str, Any]], seen: set[str]) -> Iterator[str]:
    for block in blocks:
        if block.get("type") == "tool_use":
            if block.get("id") in seen:
                yield f"messages.{index}: `tool_use` ids must be unique ({block.get('id')})"
            seen.add(str(block.get("id")))


def _ids(blocks: list[dict[str, Any]], kind: str, key: str) -> list[str]:
    return [str(block.get(key)) for block in blocks if block.get("type") == kind]


def _answered(
    index: int, blocks: list[dict[str, Any]], following: Mapping[str, Any]
) -> Iterator[str]:
    calls = _ids(blocks, "tool_use", "id")
    results: list[str] = []
    if following.get("role") == "user":
        results = _ids(_blocks(following), "tool_result", "tool_use_id")
    missing = [call for call in calls if call not in results]
    if missing:
        yield (
            f"messages.{index}: `tool_use` ids were found without `tool_result` blocks "
            f"immediately after: {', '.join(missing)}"
        )
    elif calls != results:
        yield f"messages.{index + 1}: tool results are not in the order of the calls"


def _called(index: int, blocks: list[dict[str, Any]], previous: Mapping[str, Any]) -> Iterator[str]:
    calls: list[str] = []
    if previous.get("role") == "assistant":
        calls = _ids(_blocks(previous), "tool_use", "id")
    results = _ids(blocks, "tool_result", "tool_use_id")
    for result in results:
        if result not in calls:
            yield f"messages.{index}: unexpected `tool_use_id` found in `tool_result`: {result}"
    if len(set(results)) != len(results):
        yield f"messages.{index}: each tool_use must have a single result"


def _markers(body: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    for index, tool in enumerate(body.get("tools") or []):
        if "cache_control" in tool:
            yield f"tools.{index}", tool, tool["cache_control"]
    system = body.get("system")
    for index, block in enumerate(system if isinstance(system, list) else []):
        if "cache_control" in block:
            yield f"system.{index}", block, block["cache_control"]
    for index, message in enumerate(body.get("messages") or []):
        for at, block in enumerate(_blocks(message)):
            if "cache_control" in block:
                yield f"messages.{index}.content.{at}", block, block["cache_control"]
    if "cache_control" in body:
        yield "cache_control", {}, body["cache_control"]


def _breakpoints(body: Mapping[str, Any]) -> Iterator[str]:
    markers = list(_markers(body))
    if len(markers) > 4:
        yield f"cache_control: a maximum of 4 blocks may have it, found {len(markers)}"
    short_seen = False
    for where, block, marker in markers:
        if marker.get("type") != "ephemeral" or marker.get("ttl", "5m") not in ("5m", "1h"):
            yield f"{where}.cache_control: {dict(marker)!r} is not valid"
        if "thinking" in str(block.get("type")):
            yield f"{where}.cache_control: not allowed on thinking"
        if marker.get("ttl") == "1h" and short_seen:
            yield f"{where}.cache_control: a 1h marker must not come after a 5m one"
        short_seen = short_seen or marker.get("ttl", "5m") == "5m"
