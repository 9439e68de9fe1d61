"""What a chat needs beside Python: programs, the sandbox, keys, options, directories."""

import asyncio
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from flemma.app.sandboxes import SandboxOptions
from flemma.app.services import Services
from flemma.errors import CredentialError
from flemma.headless.checks import Check, good, install_command, note, problem
from flemma.headless.options import config_path, log_path
from flemma.headless.screen import TerminalScreen
from flemma.ports.credentials import CredentialRequest
from flemma.tools.sandbox_policy import PathVariables

CREDENTIAL_DEADLINE = 15.0
"""Seconds for one key; a key store may ask the user, who may not be there."""

PROGRAMS = (
    (("rg",), "the tool grep (slower without)"),
    (("fd", "fdfind"), "the tool find (slower without)"),
    (("git",), "ignore rules, and the branch in the environment of a personality"),
)


def check_programs(services: Services) -> Iterator[Check]:
    """Check the programs that tools start."""
    which = services.processes.which
    configured = services.settings.shared().config.tools.bash.shell
    shell = which(configured or "bash")
    if shell is None:
        name = configured or "bash"
        yield problem(
            f"{name} was not found: the tool bash cannot run", install_command(name, which)
        )
    else:
        yield good(f"{shell}, for the tool bash")
    for names, use in PROGRAMS:
        found = next((path for name in names if (path := which(name))), None)
        if found is None:
            yield note(f"{names[0]} was not found, for {use}", install_command(names[0], which))
        else:
            yield good(f"{found}, for {use}")


async def check_sandbox(services: Services) -> tuple[Check, ...]:
    """Really run something confined."""
    sandbox = services.settings.shared().config.sandbox
    cwd = services.working_directory
    variables = PathVariables(
        cwd=cwd,
        home=services.environment.get("HOME", "/"),
        buffer_directory=cwd,
        store_directory=None,
        environment=services.environment,
    )
    options = SandboxOptions(variables, sandbox.enabled, sandbox.backend)
    resolution = await services.sandboxes.resolve(options)
    if not resolution.enabled:
        return (note("The sandbox is off (sandbox.enabled): commands are not confined"),)
    if resolution.backend is not None:
        return (good(f"{resolution.backend.name} confined a program"),)
    reason = resolution.reason or "There is no sandbox."
    remedy = install_command("bwrap", services.processes.which) if "not found" in reason else None
    if resolution.refuses:
        return (problem(reason, remedy or "Set sandbox.backend = auto to run without."),)
    return (note(f"{reason}\nCommands run unconfined, and are asked about.", remedy),)


async def check_credentials(services: Services) -> tuple[Check, ...]:
    """Look for the key of each provider; what is found is neither shown nor kept."""
    chosen = services.settings.shared().config.provider
    checks: list[Check] = []
    for name in services.providers.names():
        request = services.providers.get(name).credential()
        if request is None:
            checks.append(good(f"{name} needs no key"))
        else:
            checks.append(await _credential(services, name, request, chosen=name == chosen))
    return tuple(checks)


async def _credential(
    services: Services, name: str, request: CredentialRequest, *, chosen: bool
) -> Check:
    variable = f"{request.service}_{request.kind}".upper()
    use = "the provider in use" if chosen else "not in use"
    try:
        async with asyncio.timeout(CREDENTIAL_DEADLINE):
            await services.credentials.get(request)
    except CredentialError as error:
        return note(f"{name} ({use}): {error}", f"export {variable}=…")
    except TimeoutError:
        return note(
            f"{name} ({use}): the key store did not answer in {CREDENTIAL_DEADLINE:g} s",
            f"export {variable}=…",
        )
    return good(f"{name} ({use}): found")


def check_options(services: Services, screen: TerminalScreen) -> Iterator[Check]:
    """Check the options file, whose problems were told while it was read."""
    directory = config_path(services.environment)
    found = [path for path in sorted(directory.glob("config.*")) if path.suffix in _SUFFIXES]
    for entry in screen.notifications:
        yield problem(entry["message"], f"Edit {found[0] if found else directory}.")
    if not found:
        yield good(f"No options file ({directory}/config.yaml): the defaults are in force")
    elif not screen.notifications:
        yield good(str(found[0]))


_SUFFIXES = (".yaml", ".json")


def check_directories(environment: Mapping[str, str]) -> Iterator[Check]:
    """Check that logs, state and scratch files can be written; nothing is made."""
    home = environment.get("HOME", "/")
    cache = Path(environment.get("XDG_CACHE_HOME") or f"{home}/.cache")
    scratch = Path(environment.get("TMPDIR") or "/tmp")  # noqa: S108 - the system's default
    places = (
        (log_path(environment).parent, "logs and state of flemma run"),
        (cache / "nvim", "logs of the host in Neovim"),
        (scratch, "outputs of chats without a file"),
    )
    for directory, use in places:
        existing = next(path for path in (directory, *directory.parents) if path.exists())
        if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
            yield good(f"{directory} can be written, for {use}")
        else:
            yield problem(
                f"{directory} cannot be written, for {use}",
                f"sudo chown $(id -u) {existing}" if existing.is_dir() else f"rm {existing}",
            )
