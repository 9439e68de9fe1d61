"""Chats of any size that look like real ones: prose, thinking, tool calls and results."""

from collections.abc import Iterator
from itertools import count

SENTENCE = "The parser reads the message again and keeps everything that did not change. "
RESULT_LINES = 40

TURN = """\
@You:
Question {number}: {prose}

@Assistant:
<thinking anthropic:signature="c2ln{number}">
{prose}
</thinking>

I will look at the file.

**Tool Use:** `read` (`toolu_{number:06}`)
```json
{{"path": "src/file_{number}.py", "offset": {number}, "label": "reading"}}
```

@You:

**Tool Result:** `toolu_{number:06}`
```
{result}
```

@Assistant:
{prose}

```python
def answer_{number}():
    return {number}
```

"""

UNRESOLVED = """\
@Assistant:
I will run the tests.

**Tool Use:** `bash` (`toolu_last`)
```json
{"command": "make test", "label": "running the tests"}
```
"""

QUESTION = "@You:\nWhat now?\n"


def chat(size: int, *, ending: str = QUESTION) -> str:
    """Return a valid chat of at least ``size`` bytes that ends with ``ending``."""
    turns: list[str] = []
    length = 0
    for turn in _turns():
        if length >= size:
            break
        turns.append(turn)
        length += len(turn)
    return "".join(turns) + ending


def _turns() -> Iterator[str]:
    result = "\n".join(f"    line {number} of the file" for number in range(RESULT_LINES))
    for number in count():
        yield TURN.format(number=number, prose=SENTENCE * 4, result=result)
