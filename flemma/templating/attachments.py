"""What kind of file it is, and the part it becomes (spec: behaviour 10.5)."""

import mimetypes
import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from flemma.conversation.messages import DocumentPart, ImagePart, TextPart

_SNIFFED = 4096
_CHARSET = re.compile(
    r"(?i)(?:utf|iso|latin|ascii|us-ascii|cp|windows|koi8|shift|sjis|euc|gb|big5)"
)
"""Encodings of files; others (`punycode`) are slow enough to hold everything up."""

_BY_EXTENSION: Mapping[str, str] = {
    "txt": "text/plain",
    "md": "text/markdown",
    "markdown": "text/markdown",
    "rst": "text/x-rst",
    "org": "text/org",
    "json": "application/json",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "toml": "application/toml",
    "xml": "application/xml",
    "sql": "application/sql",
    "js": "application/javascript",
    "mjs": "application/javascript",
    "cjs": "application/javascript",
    "ts": "application/typescript",
    "csv": "text/csv",
    "html": "text/html",
    "htm": "text/html",
    "css": "text/css",
    "scss": "text/scss",
    "sass": "text/sass",
    "jsx": "text/jsx",
    "tsx": "text/tsx",
    "vue": "text/vue",
    "svelte": "text/svelte",
    "py": "text/x-python",
    "rb": "text/x-ruby",
    "go": "text/x-go",
    "rs": "text/x-rust",
    "java": "text/x-java",
    "kt": "text/x-kotlin",
    "swift": "text/x-swift",
    "php": "text/x-php",
    "sh": "text/x-shellscript",
    "bash": "text/x-shellscript",
    "zsh": "text/x-shellscript",
    "fish": "text/x-shellscript",
    "lua": "text/x-lua",
    "vim": "text/x-vim",
    "el": "text/x-elisp",
    "clj": "text/x-clojure",
    "c": "text/x-c",
    "h": "text/x-c",
    "cpp": "text/x-c++",
    "cc": "text/x-c++",
    "cxx": "text/x-c++",
    "hpp": "text/x-c++",
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "svg": "image/svg+xml",
    "webp": "image/webp",
    "bmp": "image/bmp",
    "pdf": "application/pdf",
}


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A file of a kind that no model reads."""

    mime: str
    name: str


Attachment: TypeAlias = TextPart | ImagePart | DocumentPart | Unsupported


def attachment(path: str, data: bytes, mime: str) -> Attachment:
    """Return the part that a file becomes. The MIME type may carry parameters."""
    name = posixpath.basename(path)
    kind = mime.partition(";")[0].strip().lower()
    if kind.startswith("image/"):
        return ImagePart(kind, data, name)
    if kind == "application/pdf":
        return DocumentPart(kind, data, name)
    if kind.startswith("text/"):
        return TextPart(decoded(data, _charset(mime)))
    return Unsupported(mime, name)


def mime_by_extension(path: str) -> str | None:
    """Return the MIME type that the extension stands for, without looking into the file."""
    return _BY_EXTENSION.get(posixpath.splitext(path)[1][1:].lower())


def mime_type(path: str, data: bytes) -> str | None:
    """Return the MIME type by extension, else by content, else by the system's table."""
    known = mime_by_extension(path)
    if known:
        return known
    if is_text(data):
        return "text/plain"
    return _sniffed(data) or mimetypes.guess_type(path, strict=False)[0]


def is_text(data: bytes) -> bool:
    """Tell whether ``data`` is UTF-8 without NUL bytes."""
    if b"\0" in data:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def decoded(data: bytes, charset: str = "utf-8") -> str:
    """Return the text of a file without a byte order mark; what is not text becomes U+FFFD."""
    known = charset if _CHARSET.match(charset) else "utf-8"
    try:
        text = data.decode(known, "replace")
    except LookupError:
        text = data.decode("utf-8", "replace")
    return text.removeprefix("\ufeff")


def _charset(mime: str) -> str:
    for parameter in mime.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset" and value:
            return value.strip().strip("\"'")
    return "utf-8"


def _sniffed(data: bytes) -> str | None:
    import puremagic

    sniff = cast("Callable[..., str]", puremagic.from_string)  # pyright: ignore[reportUnknownMemberType]
    try:
        return sniff(data[:_SNIFFED], mime=True) or None
    except (puremagic.PureError, ValueError):
        return None
