"""The bubblewrap backend: with the real program where it works, with stand-ins where it fails."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from flemma.adapters.processes import SystemProcesses
from flemma.adapters.sandbox.bubblewrap import BubblewrapBackend, BubblewrapOptions
from flemma.errors import SandboxUnavailable
from flemma.ports.processes import ProcessSpec
from flemma.ports.sandbox import SandboxPolicy


@pytest.fixture
async def backend() -> BubblewrapBackend:
    """A backend that works, or the reason of its probe."""
    found = BubblewrapBackend(SystemProcesses())
    if (reason := await found.available()) is not None:
        pytest.skip(reason)
    return found


async def confined(
    backend: BubblewrapBackend, policy: SandboxPolicy, script: str, cwd: Path
) -> tuple[int | None, str]:
    output = bytearray()
    argv = await backend.wrap(policy, ["sh", "-c", script])
    outcome = await SystemProcesses().run(ProcessSpec(argv, cwd=str(cwd)), output.extend)
    return outcome.exit_code, output.decode()


def stand_in(tmp_path: Path, script: str) -> BubblewrapBackend:
    program = tmp_path / "fake-bwrap"
    program.write_text(f"#!/bin/sh\necho run >> {tmp_path}/runs\n{script}\n")
    program.chmod(0o755)
    return BubblewrapBackend(SystemProcesses(), BubblewrapOptions(path=str(program)))


def runs(tmp_path: Path) -> int:
    return len((tmp_path / "runs").read_text().splitlines())


@pytest.mark.parametrize(
    ("policy", "options", "expected"),
    [
        (
            SandboxPolicy(("/a b", "/c")),
            (),
            "--ro-bind / / --bind /a b /a b --bind /c /c --dev /dev --proc /proc --unshare-user "
            "--unshare-pid --unshare-uts --unshare-ipc --share-net "
            "--die-with-parent --new-session echo hi",
        ),
        (
            SandboxPolicy((), network=False, allow_privileged=True),
            ("--setenv", "X", "1"),
            "--ro-bind / / --dev /dev --proc /proc "
            "--unshare-pid --unshare-uts --unshare-ipc --unshare-net "
            "--die-with-parent --new-session --setenv X 1 echo hi",
        ),
    ],
)
async def test_arguments_have_their_order(
    tmp_path: Path, policy: SandboxPolicy, options: Sequence[str], expected: str
) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    backend = BubblewrapBackend(SystemProcesses(), BubblewrapOptions(str(program), tuple(options)))
    argv = await backend.wrap(policy, ["echo", "hi"])
    assert " ".join(argv) == f"{program} {expected}"


async def test_writes_work_in_the_policys_paths_only(
    backend: BubblewrapBackend, tmp_path: Path
) -> None:
    """K-05: a working directory that may not be written still serves."""
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    policy = SandboxPolicy((str(inside),))
    code, output = await confined(
        backend, policy, f"echo a > {inside}/f; pwd; echo b > f || exit 7", outside
    )
    assert code == 7
    assert str(outside) in output
    assert (inside / "f").read_text() == "a\n"
    assert list(outside.iterdir()) == []


async def test_tools_below_the_home_directory_are_visible(
    backend: BubblewrapBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K-06."""
    programs = tmp_path / "home" / ".local" / "bin"
    programs.mkdir(parents=True)
    tool = programs / "mytool"
    tool.write_text("#!/bin/sh\necho from home\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    assert await confined(backend, SandboxPolicy(()), "mytool", tmp_path) == (0, "from home\n")


async def test_nothing_is_left_behind(backend: BubblewrapBackend, tmp_path: Path) -> None:
    await confined(backend, SandboxPolicy((str(tmp_path),)), "true", tmp_path)
    assert list(tmp_path.iterdir()) == []


async def test_the_network_can_be_cut_off(backend: BubblewrapBackend, tmp_path: Path) -> None:
    policy = SandboxPolicy((), network=False)
    try:
        code, output = await confined(backend, policy, "cat /proc/net/dev", tmp_path)
    except SandboxUnavailable as error:
        pytest.skip(error.message)
    assert code == 0
    assert [line.split(":")[0].strip() for line in output.splitlines()[2:]] == ["lo"]


async def test_a_blocked_namespace_is_a_reason_with_a_remedy(tmp_path: Path) -> None:
    """K-01: installed, but the kernel refuses."""
    said = "bwrap: setting up uid map: Permission denied"
    backend = stand_in(tmp_path, f"echo '{said}' >&2; exit 1")
    reason = await backend.available()
    assert reason is not None
    assert said in reason
    assert "kernel.apparmor_restrict_unprivileged_userns=0" in reason
    assert "sandbox.enabled = false" in reason
    assert await backend.available() == reason
    assert runs(tmp_path) == 1
    with pytest.raises(SandboxUnavailable) as caught:
        await backend.wrap(SandboxPolicy(()), ["true"])
    assert caught.value.message == reason
    assert runs(tmp_path) == 1


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ('echo "bwrap: Can\'t mount proc on /newroot/proc" >&2; exit 1', "unmask it"),
        ("exit 3", "a trial run ended with exit code 3"),
    ],
)
async def test_other_failures_say_what_happened(tmp_path: Path, script: str, words: str) -> None:
    reason = await stand_in(tmp_path, script).available()
    assert reason is not None
    assert words in reason


async def test_a_network_that_cannot_be_cut_off_refuses_only_that(tmp_path: Path) -> None:
    """K-01."""
    backend = stand_in(
        tmp_path,
        'case "$*" in *--unshare-net*) '
        "echo 'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted' >&2; exit 1;; esac",
    )
    assert await backend.available() is None
    with pytest.raises(SandboxUnavailable, match=r"sandbox\.policy\.network = true"):
        await backend.wrap(SandboxPolicy((), network=False), ["true"])
    assert "true" in await backend.wrap(SandboxPolicy(()), ["true"])
    assert runs(tmp_path) == 2


async def test_a_missing_program_and_another_system_are_told_apart() -> None:
    missing = BubblewrapBackend(SystemProcesses(), BubblewrapOptions(path="/no/bwrap"))
    assert await missing.available() == (
        "bubblewrap (bwrap) not found at '/no/bwrap'. Install it (e.g. apt install bubblewrap) "
        "or set sandbox.backends.bwrap.path."
    )
    elsewhere = BubblewrapBackend(SystemProcesses(), platform="darwin")
    assert await elsewhere.available() == (
        "Bubblewrap sandbox requires Linux (user namespaces). "
        "No sandbox backend is available for this platform."
    )
