"""The Processes port on a Unix system."""

import itertools
import os
import shutil
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

from flemma.adapters.processes.command import Command, Start
from flemma.adapters.processes.guardian import Guardian
from flemma.adapters.processes.output import Output
from flemma.adapters.processes.tree import MARK_VARIABLE, Tree
from flemma.errors import ProcessError
from flemma.ports.processes import ProcessOutcome, ProcessSpec

# A session leader that opens a terminal device for reading, as `exec 3<>/dev/stderr` makes bash do,
# gets it as its controlling terminal, and then password prompts wait for an answer (case X-04). So
# on a terminal the leader is a shell that does nothing but wait.
_LEADER_SCRIPT = '"$@"; exit $?'


class SystemProcesses:
    """Runs programs with their own session, and leaves none behind when the host ends.

    ``kill_all`` is for an orderly end of the host; after a crash a guard process does the same.
    """

    def __init__(self) -> None:
        self._token = os.urandom(8).hex()
        self._numbers = itertools.count(1)
        self._running: set[Command] = set()
        self._discarded: set[Output] = set()
        self._guardian = Guardian(f"[{self._token}.")

    async def run(
        self,
        spec: ProcessSpec,
        on_output: Callable[[bytes], None],
        on_error: Callable[[bytes], None] | None = None,
    ) -> ProcessOutcome:
        """See :class:`flemma.ports.processes.Processes`."""
        command = Command(spec, self._prepare(spec))
        self._guardian.start()
        try:
            await command.start(on_output, on_error)
        except (OSError, ValueError) as error:
            raise ProcessError(f"Cannot run {spec.argv[0]}: {_detail(error)}") from error
        self._guardian.watch(command.leader)
        self._running.add(command)
        survivors = False
        try:
            outcome = await command.outcome()
            survivors = outcome.survivors
        finally:
            self._running.discard(command)
            self._discarded = {output for output in self._discarded if not output.ended}
            if survivors:
                self._discarded.add(command.output)
            else:
                self._guardian.forget(command.leader)
        return outcome

    def which(self, program: str) -> str | None:
        """Return the absolute path of ``program`` on PATH, or None."""
        found = shutil.which(program)
        return str(Path(found).absolute()) if found else None

    def kill_all(self) -> None:
        """End every process that any command started and that still runs, at once.

        Blocks for a few milliseconds; commands being awaited end as ``cancelled``.
        """
        for command in self._running:
            command.stop("cancelled")
        leaders = frozenset(command.leader for command in self._running)
        everything = Tree(f"[{self._token}.".encode(), leaders)
        for _ in range(3):
            if not everything.send(signal.SIGKILL):
                break
        for output in self._discarded:
            output.close()
        self._discarded.clear()
        self._guardian.close()

    def _prepare(self, spec: ProcessSpec) -> Start:
        """Raises :class:`ProcessError` when the program or the directory is missing."""
        if not Path(spec.cwd).is_dir():
            raise ProcessError(
                f"Working directory does not exist: {spec.cwd}",
                hint="Create it, or set the cwd of the tool to an existing directory.",
            )
        mark = f"[{self._token}.{next(self._numbers)}]"
        environment = dict(os.environ)
        environment.update(spec.environment or {})
        # Hosts may be nested: a mark of an outer one has to stay.
        environment[MARK_VARIABLE] = os.environ.get(MARK_VARIABLE, "") + mark
        argv = [_program(spec.argv[0], spec.cwd, environment), *spec.argv[1:]]
        shell = shutil.which("sh") if spec.terminal else None
        leader = [shell, "-c", _LEADER_SCRIPT, "sh"] if shell else []
        return Start([*leader, *argv], environment, mark.encode())


def _program(name: str, cwd: str, environment: Mapping[str, str]) -> str:
    """Find the program as the shell would. Raises :class:`ProcessError`."""
    if "/" not in name:
        found = shutil.which(name, path=environment.get("PATH"))
        if found is None:
            raise ProcessError(f"Program not found: {name} is not on PATH")
        return found
    path = Path(cwd, name)
    if not path.is_file():
        raise ProcessError(f"Program not found: {name}")
    if not os.access(path, os.X_OK):
        raise ProcessError(f"Program is not executable: {name}")
    return str(path)


def _detail(error: OSError | ValueError) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)
