"""Request bodies as bytes that are the same for equal input (spec: behaviour 8.4; case S-23)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from flemma.text.safe import without_surrogates


def encode_body(body: Mapping[str, Any], trailing: Sequence[str]) -> bytes:
    """Encode with keys sorted at every level and the ``trailing`` top-level keys at the end.

    What changes from turn to turn comes last, so that the prefix stays. Halves of surrogate pairs
    are repaired (case B-14); numbers that are no JSON become null.
    """
    leading = sorted(key for key in body if key not in trailing)
    order = [*leading, *(key for key in trailing if key in body)]
    members = (f"{json.dumps(key)}:{_encode(body[key])}" for key in order)
    return without_surrogates("{" + ",".join(members) + "}").encode("utf-8")


def _encode(value: Any) -> str:
    try:
        return _dump(value)
    except ValueError:
        finite = json.loads(json.dumps(value), parse_constant=lambda _name: None)
        return _dump(finite)


def _dump(value: Any) -> str:
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )
