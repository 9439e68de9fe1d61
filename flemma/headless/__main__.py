"""The program `flemma`, and `python -m flemma.headless`."""

import asyncio
import io
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import TextIO

from flemma.headless.arguments import parse_arguments
from flemma.headless.options import RunOptions

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and end the process with its exit code."""
    options = parse_arguments(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Outputs of programs may hold bytes that are no UTF-8.
            stream.reconfigure(encoding="utf-8", errors="surrogateescape")
    code = _run(options) if isinstance(options, RunOptions) else _doctor()
    for stream in (sys.stdout, sys.stderr):
        _guarded(stream)("")
    # A tool or a library may have left a thread behind; nothing of theirs is worth waiting for.
    os._exit(code)


def _run(options: RunOptions) -> int:
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    return loop.run_until_complete(_run_with_signals(options, loop))


async def _run_with_signals(options: RunOptions, loop: asyncio.AbstractEventLoop) -> int:
    from flemma.headless.run import HeadlessRun, Output

    out, err = _guarded(sys.stdout), _guarded(sys.stderr)
    run = HeadlessRun(options, Output(out, err))
    interrupted = False

    def on_signal(number: int) -> None:
        nonlocal interrupted
        if interrupted:
            run.kill()
            os._exit(128 + number)
        interrupted = True
        run.interrupt(number)

    for number in SIGNALS:
        loop.add_signal_handler(number, on_signal, number)
    report = await run.run()
    if options.json:
        out(json.dumps(report, ensure_ascii=False, indent=2) + "\n")
    return int(report["exit_code"])


def _doctor() -> int:
    from flemma.headless.doctor import diagnose

    return asyncio.run(diagnose(_guarded(sys.stdout)))


def _guarded(stream: TextIO) -> Callable[[str], None]:
    """Return a writer that goes silent when nobody reads any more; the run itself goes on."""
    gone = False

    def write(text: str) -> None:
        nonlocal gone
        if gone:
            return
        try:
            stream.write(text)
            stream.flush()
        except OSError:
            gone = True

    return write


if __name__ == "__main__":
    main()
