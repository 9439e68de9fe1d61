"""Which sandbox a command gets."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from flemma.adapters.files import LocalFiles
from flemma.app.sandboxes import NOT_SANDBOXED, Sandboxes, SandboxOptions
from flemma.errors import SandboxUnavailable
from flemma.ports.sandbox import SandboxPolicy
from flemma.tools.sandbox_policy import PathVariables


class Backend:
    """A backend that puts its name in front; unavailable with a reason."""

    def __init__(self, name: str, priority: int = 50, reason: str | None = None) -> None:
        self.name = name
        self.priority = priority
        self.reason = reason
        self.probes = 0

    async def available(self) -> str | None:
        self.probes += 1
        return self.reason

    async def wrap(self, policy: SandboxPolicy, argv: Sequence[str]) -> Sequence[str]:
        return [self.name, *policy.rw_paths, *argv]


def sandboxes(*backends: Backend) -> Sandboxes:
    found = Sandboxes(LocalFiles())
    for backend in backends:
        found.register(backend)
    return found


def options(cwd: str = "/", **changes: Any) -> SandboxOptions:
    return SandboxOptions(PathVariables(cwd=cwd, home="/root"), **changes)


async def test_auto_takes_the_first_available_by_priority() -> None:
    found = sandboxes(Backend("low", 10), Backend("top", 99, "broken"), Backend("mid", 50))
    assert list(await found.wrap(options(), ["ls"])) == ["mid", "ls"]


async def test_auto_runs_unconfined_without_a_backend_and_knows_why() -> None:
    found = sandboxes(Backend("a", 2, "no kernel"), Backend("b", 1, "no luck"))
    assert list(await found.wrap(options(), ["ls"])) == ["ls"]
    resolution = await found.resolve(options())
    assert (resolution.active, resolution.refuses) == (False, False)
    assert resolution.reason == "No sandbox backend available (a: no kernel; b: no luck)"
    assert await found.warning(options()) is None


async def test_required_never_runs_unconfined_and_warns() -> None:
    """K-01."""
    found = sandboxes(Backend("a", reason="no kernel"))
    required = options(backend="required")
    with pytest.raises(SandboxUnavailable, match=r"No sandbox backend available \(a: no kernel\)"):
        await found.wrap(required, ["ls"])
    assert await found.warning(required) == NOT_SANDBOXED
    found.register(Backend("b"))
    assert await found.warning(required) is None
    assert list(await found.wrap(required, ["ls"])) == ["b", "ls"]


@pytest.mark.parametrize(
    ("backend", "message"),
    [
        ("nope", "Unknown sandbox backend: nope"),
        ("a", "no kernel"),
        (None, "No sandbox backend configured"),
        ("", "No sandbox backend configured"),
    ],
)
async def test_a_named_backend_that_cannot_be_had_is_an_error(
    backend: str | None, message: str
) -> None:
    found = sandboxes(Backend("a", reason="no kernel"), Backend("b"))
    with pytest.raises(SandboxUnavailable) as caught:
        await found.wrap(options(backend=backend), ["ls"])
    assert caught.value.message == message


async def test_off_is_off() -> None:
    """K-07: not even a probe."""
    backend = Backend("a")
    found = sandboxes(backend)
    off = options(enabled=False, backend="required")
    assert list(await found.wrap(off, ["ls"])) == ["ls"]
    assert not (await found.resolve(off)).enabled
    assert found.is_path_writable(off, "/anywhere")
    assert await found.warning(off) is None
    assert backend.probes == 0


async def test_the_sessions_word_beats_the_configuration() -> None:
    found = sandboxes(Backend("a"))
    assert found.disable() == "Sandbox disabled"
    assert list(await found.wrap(options(backend="required"), ["ls"])) == ["ls"]
    assert await found.enable(options(enabled=False)) == "Sandbox enabled"
    assert list(await found.wrap(options(enabled=False), ["ls"])) == ["a", "ls"]


async def test_enabling_without_a_backend_is_refused_and_changes_nothing() -> None:
    found = sandboxes(Backend("a", reason="no kernel"))
    found.disable()
    with pytest.raises(SandboxUnavailable) as caught:
        await found.enable(options())
    assert caught.value.message == (
        "Cannot enable sandbox: No sandbox backend available (a: no kernel)"
    )
    assert not found.is_enabled(options())


async def test_backends_are_probed_once_until_they_change() -> None:
    backend = Backend("a")
    found = sandboxes(backend)
    for _ in range(3):
        await found.wrap(options(), ["ls"])
    assert backend.probes == 1
    found.register(Backend("b", reason="x"))
    await found.resolve(options())
    assert backend.probes == 2
    assert found.unregister("a")
    assert not found.unregister("a")
    assert not (await found.resolve(options())).active


async def test_what_was_probed_ahead_is_not_probed_again_by_the_first_command() -> None:
    top, low = Backend("top", 99), Backend("low", 1)
    found = sandboxes(top, low)
    await found.probe("auto")
    assert (top.probes, low.probes) == (1, 0)
    assert list(await found.wrap(options(), ["ls"])) == ["top", "ls"]
    assert (top.probes, low.probes) == (1, 0)


async def test_the_policy_holds_real_existing_paths(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    found = sandboxes(Backend("a"))
    here = options(
        str(tmp_path / "link"), rw_paths=("urn:flemma:cwd", str(tmp_path / "gone"), f"{real}/")
    )
    assert found.policy(here) == SandboxPolicy((str(real),))
    assert list(await found.wrap(here, ["ls"])) == ["a", str(real), "ls"]
    assert found.is_path_writable(here, str(tmp_path / "link" / "new.txt"))
    assert not found.is_path_writable(here, str(tmp_path / "other.txt"))


async def test_a_link_out_of_a_writable_directory_is_not_writable(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    inside.mkdir()
    (inside / "out").symlink_to(tmp_path / "secret.txt")
    found = sandboxes()
    here = options(str(inside), rw_paths=("urn:flemma:cwd",))
    assert found.is_path_writable(here, str(inside / "in.txt"))
    assert not found.is_path_writable(here, str(inside / "out"))


async def test_status_tells_everything(tmp_path: Path) -> None:
    found = sandboxes(Backend("a", 1), Backend("b", 2, "no kernel"))
    found.disable()
    status = await found.status(options(str(tmp_path), rw_paths=("urn:flemma:cwd",)))
    assert status.backends == (("b", 2, "no kernel"), ("a", 1, None))
    assert (status.override, status.configured) == (False, "auto")
    assert status.policy.rw_paths == (str(tmp_path.resolve()),)
    assert not status.resolution.enabled
