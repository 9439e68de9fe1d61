"""One running command, from its start to the end of its tree."""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from subprocess import DEVNULL

from flemma.adapters.processes import tree
from flemma.adapters.processes.output import Output, Sink, open_terminal
from flemma.adapters.processes.tree import Tree
from flemma.ports.processes import ProcessOutcome, ProcessSpec

QUIET = 0.05
"""Seconds of silence after which output counts as complete once the command has ended."""
LONGEST_DRAIN = 0.5
GRACE = 0.5
"""Seconds between SIGTERM and SIGKILL."""
_POLL = 0.02


@dataclass(frozen=True, slots=True)
class Start:
    """A command as it is handed to the system."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    mark: bytes


class Command:
    """Runs one command. Use :meth:`start`, then :meth:`outcome` once."""

    def __init__(self, spec: ProcessSpec, start: Start) -> None:
        loop = asyncio.get_running_loop()
        self._spec = spec
        self._start = start
        self._exited: asyncio.Future[None] = loop.create_future()
        self._stopped: asyncio.Future[str] = loop.create_future()
        self._transport: asyncio.SubprocessTransport | None = None
        self._others: set[int] = set()
        self.output = Output(spec.output_limit, self.stop)
        self.tree = Tree(start.mark)
        self.leader = 0

    async def start(self, on_output: Sink, on_error: Sink | None) -> None:
        """Start the program. Raises ``OSError`` or ``ValueError`` if the system refuses."""
        theirs = self._open_output(on_output, on_error)
        self._others = tree.process_ids()
        try:
            self._transport, _ = await asyncio.get_running_loop().subprocess_exec(
                lambda: _Exit(self._exited),
                *self._start.argv,
                stdin=DEVNULL,
                stdout=theirs[0],
                stderr=theirs[-1],
                cwd=self._spec.cwd,
                env=self._start.environment,
                start_new_session=True,
            )
        except BaseException:
            self.output.close()
            self._kill_now()
            raise
        finally:
            for descriptor in set(theirs):
                os.close(descriptor)
        self.leader = self._transport.get_pid()
        self.tree = Tree(self._start.mark, frozenset({self.leader}))

    def stop(self, reason: str | Exception) -> None:
        """Have :meth:`outcome` end the tree, for a reason or with an error."""
        if self._stopped.done():
            return
        if isinstance(reason, Exception):
            self._stopped.set_exception(reason)
        else:
            self._stopped.set_result(reason)

    async def outcome(self) -> ProcessOutcome:
        """Wait for the end; when cancelled or stopped, end the tree first."""
        try:
            return await self._until_end()
        except BaseException:
            await self._end_tree()
            self.output.close()
            raise
        finally:
            if self._transport is not None:
                self._transport.close()
            if self._stopped.done() and not self._stopped.cancelled():
                self._stopped.exception()  # mark as seen

    async def _until_end(self) -> ProcessOutcome:
        await asyncio.wait(
            {self._exited, self._stopped},
            timeout=self._spec.timeout,
            return_when=asyncio.FIRST_COMPLETED,
        )
        ended_by = self._reason()
        if ended_by is None:
            await self.output.drain(quiet=QUIET, longest=LONGEST_DRAIN)
            ended_by = self._stopped.result() if self._stopped.done() else None
        if ended_by is not None:
            await self._end_tree()
            await self.output.drain(quiet=QUIET, longest=LONGEST_DRAIN)
            self.output.close()
            return ProcessOutcome(None, ended_by, survivors=False)
        survivors = self._has_survivors()
        if survivors:
            self.output.discard()
        else:
            self.output.close()
        return ProcessOutcome(self._exit_code(), None, survivors)

    def _reason(self) -> str | None:
        if self._stopped.done():
            return self._stopped.result()
        return None if self._exited.done() else "timeout"

    def _exit_code(self) -> int | None:
        return self._transport.get_returncode() if self._transport else None

    def _has_survivors(self) -> bool:
        if not tree.HAS_PROC:
            return bool(self.tree.members())
        return bool(self.tree.members(tree.process_ids() - self._others))

    def _open_output(self, on_output: Sink, on_error: Sink | None) -> list[int]:
        """Begin to read; return the program's ends of stdout and stderr (one for both)."""
        if self._spec.terminal:
            ours, theirs = open_terminal()
            self.output.read(ours, on_output)
            return [theirs]
        ends: list[int] = []
        for sink in (on_output, on_error):
            if sink is not None:
                ours, theirs = os.pipe()
                self.output.read(ours, sink)
                ends.append(theirs)
        return ends

    async def _end_tree(self) -> None:
        """SIGTERM, a grace period, SIGKILL until nothing is left."""
        try:
            await self._climb_ladder()
        except asyncio.CancelledError:
            self._kill_now()
            raise

    async def _climb_ladder(self) -> None:
        await asyncio.to_thread(self.tree.send, signal.SIGTERM)
        for _ in range(int(GRACE / _POLL)):
            if not await asyncio.to_thread(self.tree.members):
                break
            await asyncio.sleep(_POLL)
        for _ in range(100):
            if not await asyncio.to_thread(self.tree.send, signal.SIGKILL):
                break
            await asyncio.sleep(_POLL)
        await asyncio.wait({self._exited}, timeout=GRACE)

    def _kill_now(self) -> None:
        for _ in range(3):
            if not self.tree.send(signal.SIGKILL):
                return


class _Exit(asyncio.SubprocessProtocol):
    """Resolves a future when the direct child has ended."""

    def __init__(self, exited: asyncio.Future[None]) -> None:
        self._exited = exited

    def process_exited(self) -> None:
        if not self._exited.done():
            self._exited.set_result(None)
