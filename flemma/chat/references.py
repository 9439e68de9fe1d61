"""File references ``@./path;type=mime`` in text: reading and writing (spec: behaviour 1.11)."""

import re
import string
from dataclasses import dataclass
from urllib.parse import quote, unquote_plus

_OPTION = r";[A-Za-z0-9_]+=(?:'[^'\n]*'|\"[^\"\n]*\"|[^\s;]*)"
_REFERENCE = re.compile(
    rf"@(?P<path>(?:\.\.?/|~/|//)(?:(?!;[A-Za-z0-9_]+=)\S)*)(?P<options>(?:{_OPTION})*)"
)
_OPTION_PARTS = re.compile(r";([A-Za-z0-9_]+)=('[^'\n]*'|\"[^\"\n]*\"|[^\s;]*)")
_SAFE = "/~!$&()*,:=@-._"
"""Characters a path may keep; the last ones of a path are encoded anyway when they are not
letters or digits, since they would be taken for punctuation of the prose."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A file reference as it stands in text; ``raw`` begins with the ``@``."""

    path: str
    mime: str | None
    raw: str


def read_reference(text: str, position: int) -> Reference | None:
    """Return the reference that begins at ``position``, or None when there is none.

    Punctuation at the end of the path (of the last option, when there are options) belongs to the
    prose around it and is not part of ``raw`` (case 23, 26).
    """
    found = _REFERENCE.match(text, position)
    if found is None:
        return None
    if found["options"]:
        return _with_options(found["path"], found["options"])
    written = found["path"].rstrip(string.punctuation)
    return Reference(_decode(written), None, "@" + written) if written else None


def _with_options(path: str, options: str) -> Reference:
    if options[-1] not in "'\"":
        options = options.rstrip(string.punctuation)
    mime: str | None = None
    for key, value in _OPTION_PARTS.findall(options):
        if key == "type":
            mime = value.strip("'\"") or None
    return Reference(_decode(path), mime, f"@{path}{options}")


def _decode(written: str) -> str:
    path = written[1:] if written.startswith("//") else written
    return unquote_plus(path, errors="surrogateescape")


def write_reference(path: str, mime: str | None = None) -> str:
    """Return the reference that reads back as ``path``.

    ``path`` starts with ``./``, ``../``, ``~/`` or ``/``; other paths are taken as relative to the
    chat file.
    """
    root = next((root for root in ("./", "../", "~/", "/") if path.startswith(root)), "")
    name = quote(path[len(root) :], safe=_SAFE, errors="surrogateescape")
    begin = "@" + {"": "./", "/": "//"}.get(root, root)
    if mime is None:
        kept = name.rstrip(string.punctuation)
        return begin + kept + "".join(f"%{ord(c):02X}" for c in name[len(kept) :])
    quoted = f"'{mime}'" if ";" in mime or mime[-1] in string.punctuation else mime
    return f"{begin}{name};type={quoted}"
