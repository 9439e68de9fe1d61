"""The command line of `flemma`."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import flemma
from flemma.headless.options import GRACE, RunOptions

EXIT_CODES = """\
exit codes of run:
  0  the model has answered and nothing is left to do
  1  nothing was sent, or the request failed; the file holds what had arrived
  2  wrong usage, or the file cannot be read, written or understood
  3  calls wait for approval: edit their status in the file and run again
  4  stopped after --max-turns requests in a row; run again to go on
  130, 143, 129  interrupted (Ctrl-C, TERM, HUP); what ran was cancelled
"""


@dataclass(frozen=True, slots=True)
class DoctorOptions:
    """What `flemma doctor` was asked."""


Command: TypeAlias = RunOptions | DoctorOptions


def parse_arguments(arguments: Sequence[str]) -> Command:
    """Return the command; wrong usage ends the program with code 2 and a message."""
    given = _parser().parse_args(arguments)
    if given.command == "doctor":
        return DoctorOptions()
    return RunOptions(
        file=given.file,
        provider=given.provider,
        model=given.model,
        approve=tuple(name for names in given.approve for name in names),
        max_turns=given.max_turns,
        grace=given.grace,
        json=given.json,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="flemma",
        description="An AI workspace in which the .chat file is the conversation.",
    )
    parser.add_argument("--version", action="version", version=f"flemma {flemma.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser(
        "run",
        help="do in a chat file what Ctrl-] does in the editor, until there is nothing to do",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_run_arguments(run)
    commands.add_parser("doctor", help="check everything a chat needs, and say what mends it")
    return parser


def _add_run_arguments(run: argparse.ArgumentParser) -> None:
    run.add_argument("file", metavar="FILE", help="the .chat file; it is written as it grows")
    run.add_argument("--provider", metavar="NAME", help="provider in place of the configured one")
    run.add_argument("--model", metavar="NAME", help="model in place of the configured one")
    run.add_argument(
        "--approve",
        metavar="LIST",
        type=_names,
        action="append",
        default=[],
        help="tools that need no approval: names, globs or presets, with commas between them",
    )
    run.add_argument("--json", action="store_true", help="print one JSON object at the end")
    run.add_argument(
        "--max-turns",
        metavar="N",
        type=_positive,
        help="requests that are sent by themselves before the run stops",
    )
    run.add_argument(
        "--grace",
        metavar="SECONDS",
        type=_seconds,
        default=GRACE,
        help="how long background jobs are waited for when all else is done (default: %(default)g)",
    )


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError("must be a number of seconds")
    return number
