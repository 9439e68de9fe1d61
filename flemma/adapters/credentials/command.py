"""Asking a program for a secret."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flemma.errors import ProcessError
from flemma.ports.processes import Processes, ProcessSpec

TIMEOUT = 60.0
"""Seconds; a key store may ask the user to unlock it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a program said. ``exit_code`` is None when it was ended or could not be started."""

    exit_code: int | None
    output: str
    problem: str | None = None


async def ask(
    processes: Processes, argv: Sequence[str], environment: Mapping[str, str] | None = None
) -> Answer:
    """Run ``argv`` and return its standard output without the final line break."""
    output: list[bytes] = []
    errors: list[bytes] = []
    spec = ProcessSpec(argv=argv, cwd="/", environment=environment, timeout=TIMEOUT)
    try:
        outcome = await processes.run(spec, output.append, errors.append)
    except ProcessError as problem:
        return Answer(None, "", problem.message)
    text = b"".join(output).decode("utf-8", "replace").strip()
    said = b"".join(errors).decode("utf-8", "replace").strip()
    ended = f"no answer within {TIMEOUT:g} s" if outcome.ended_by else None
    return Answer(outcome.exit_code, text, said.splitlines()[-1] if said else ended)
