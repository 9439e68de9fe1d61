"""`flemma doctor`: the checks of `:checkhealth flemma` without an editor, with an exit code."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from flemma.headless.checks import Check, Standing, print_section
from flemma.headless.python_checks import check_python

PROBLEMS_FOUND = 1


async def diagnose(write: Callable[[str], None]) -> int:
    """Check everything and print what was found; 0 unless something has to be mended."""
    found: list[Check] = []

    def show(title: str, checks: Sequence[Check]) -> None:
        found.extend(checks)
        print_section(title, checks, write)

    show("Python", check_python())
    if not _has_problems(found):
        await _check_surroundings(show)
    problems = sum(check.standing is Standing.PROBLEM for check in found)
    if problems == 0:
        write("No problems found.\n")
        return 0
    write(f"{problems} to mend, see FAIL above.\n")
    return PROBLEMS_FOUND


async def _check_surroundings(show: Callable[[str, Sequence[Check]], None]) -> None:
    # Only here: these import packages that may be missing.
    from flemma.adapters.composition import FrontEnd, compose
    from flemma.adapters.no_buffers import NoOpenBuffers
    from flemma.adapters.supervisor import Supervisor
    from flemma.errors import ConfigError
    from flemma.headless import neovim_checks, system_checks
    from flemma.headless.options import read_config
    from flemma.headless.screen import TerminalScreen
    from flemma.ports.editor import Level

    screen = TerminalScreen(_silent)
    options: Mapping[str, Any] = {}
    try:
        options = read_config(os.environ)
    except ConfigError as error:
        screen.notify(str(error), Level.ERROR)
    composition = compose(
        FrontEnd(screen, Supervisor(_silent), NoOpenBuffers(), str(Path.cwd()), options)
    )
    services = composition.services
    try:
        show("Options", tuple(system_checks.check_options(services, screen)))
        show("Programs", tuple(system_checks.check_programs(services)))
        show("Sandbox", await system_checks.check_sandbox(services))
        show("Neovim", await neovim_checks.check_neovim(services.processes))
        show("Keys", await system_checks.check_credentials(services))
        show("Directories", tuple(system_checks.check_directories(services.environment)))
    finally:
        composition.end()


def _has_problems(checks: Sequence[Check]) -> bool:
    return any(check.standing is Standing.PROBLEM for check in checks)


def _silent(text: str) -> None:
    """What the services say is shown as findings instead."""
    del text
