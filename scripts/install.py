"""Build the private virtual environment that Flemma runs from: ``python -m scripts.install``.

Only the standard library is used, and any Python from 3.11 on runs it. A record inside `.venv`
says what was installed from which `pyproject.toml`; when it fits, nothing is done. The record is
taken away before a change and put back after it, so an interrupted installation is built anew
(case P-08).
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

EDITABLE = ("--config-settings", "editable_mode=compat", "--editable")
"""A path in a file, instead of an import hook that costs every start of the host 10 ms."""


class InstallError(Exception):
    """The environment cannot be built; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Record:
    """What an environment holds."""

    root: str
    digest: str
    extras: tuple[str, ...]


def ensure(extras: Iterable[str] = (), root: Path = ROOT) -> bool:
    """Make `.venv` hold the package, its dependencies and ``extras``; False when it did already.

    Raises :class:`InstallError`.
    """
    with _only_one_at_a_time(root):
        environment = root / ".venv"
        found = _read(environment)
        wanted = Record(
            root=str(root),
            digest=_digest(root),
            extras=tuple(sorted({*extras, *(found.extras if found else ())})),
        )
        if found == wanted:
            return False
        if found is None or found.root != wanted.root:
            _create(environment)
        _record_path(environment).unlink(missing_ok=True)
        _install(environment, wanted)
        _record_path(environment).write_text(
            json.dumps({"root": wanted.root, "digest": wanted.digest, "extras": wanted.extras})
        )
        return True


def _record_path(environment: Path) -> Path:
    return environment / "flemma-installed.json"


def _read(environment: Path) -> Record | None:
    """Return the record, or None when there is no complete, working environment."""
    try:
        data: dict[str, Any] = json.loads(_record_path(environment).read_text())
        found = Record(data["root"], data["digest"], tuple(data["extras"]))
    except (OSError, ValueError, KeyError):
        return None
    try:
        subprocess.run([_python(environment), "-c", "import pip"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return found


def _digest(root: Path) -> str:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    return hashlib.sha256(json.dumps([project, EDITABLE], sort_keys=True).encode()).hexdigest()


def _python(environment: Path) -> Path:
    return environment / "bin" / "python"


def _create(environment: Path) -> None:
    say(f"Making {environment.name} with Python {sys.version.split()[0]} ...")
    command = creation_command(lambda name: find_spec(name) is not None, shutil.which("virtualenv"))
    _run([*command, str(environment)], "The virtual environment could not be made")


def creation_command(has_module: Callable[[str], bool], virtualenv: str | None) -> list[str]:
    """Return the command that makes an environment, or raise :class:`InstallError` with a way out.

    ``virtualenv`` is the path of that command, if it is there.
    """
    # Debian ships venv with Python, but what it needs (ensurepip) in another package.
    if has_module("venv") and has_module("ensurepip"):
        return [sys.executable, "-m", "venv", "--clear"]
    if has_module("virtualenv"):
        return [sys.executable, "-m", "virtualenv", "--quiet", "--clear"]
    if virtualenv:
        return [virtualenv, "--quiet", "--clear", "--python", sys.executable]
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    raise InstallError(
        f"{sys.executable} cannot make virtual environments: its venv module is missing.\n"
        f"Debian and Ubuntu keep it in a package of its own: apt install python{version}-venv\n"
        "Elsewhere, virtualenv does as well: pip install virtualenv\n"
        "Then run `make install` again."
    )


def _install(environment: Path, wanted: Record) -> None:
    extras = ", ".join(wanted.extras)
    say("Installing Flemma" + (f" with {extras}" if extras else "") + " ...")
    suffix = f"[{','.join(wanted.extras)}]" if extras else ""
    pip = [str(_python(environment)), "-m", "pip", "--disable-pip-version-check", "--no-input"]
    # Quiet twice: the build back-end warns about every editable installation, by design ours.
    _run(
        [*pip, "install", "--quiet", "--quiet", *EDITABLE, f"{wanted.root}{suffix}"],
        "pip could not install Flemma's dependencies",
    )
    # The bytecode is that of the environment's own Python; what fails here, the first start does.
    package = str(Path(wanted.root) / "flemma")
    subprocess.run([_python(environment), "-m", "compileall", "-qq", package], check=False)


def _run(command: list[str], failure: str) -> None:
    clean = {
        name: value
        for name, value in os.environ.items()
        if name not in {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PIP_USER", "PIP_TARGET"}
    }
    done = subprocess.run(command, env=clean, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise InstallError(
            f"{failure} (exit code {done.returncode}; its own words are above).\n"
            f"The command was: {' '.join(command)}\n"
            "Mend what it names and run the same make target again: it starts afresh."
        )


@contextmanager
def _only_one_at_a_time(root: Path) -> Generator[None]:
    """Hold a lock, so that two editors that update at once do not build over each other."""
    scratch = root / ".tmp"
    scratch.mkdir(exist_ok=True)
    with (scratch / "install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def say(message: str) -> None:
    """Tell the user on stderr, where nothing parses it."""
    print(message, file=sys.stderr, flush=True)


def main() -> int:
    """Install what the command line and ``FLEMMA_EXTRAS`` ask for; 1 on failure."""
    extras = {*sys.argv[1:], *os.environ.get("FLEMMA_EXTRAS", "").replace(",", " ").split()}
    try:
        if not ensure(extras):
            say("Flemma is up to date.")
    except InstallError as error:
        say(f"\n{error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
