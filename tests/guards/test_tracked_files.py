"""What must not stand in the repository: one machine's paths, registries' addresses, secrets."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

FORBIDDEN = {
    "a path of one machine": r"(/home/(?!user\b|me\b|you\b)\w+/|/root/|/work/(main|shared))",
    "the address of a package registry": (
        r"(pypi\.(org|python)|pythonhosted|registry\.npmjs|deb\.debian\.org|npmmirror)"
    ),
    "a key": r"(sk-ant-api\d\d-[\w-]{20}|AIza[\w-]{35})",
}


def tracked_files() -> list[Path]:
    try:
        listing = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git clone")
    files = [ROOT / name for name in listing.stdout.split("\0") if name]
    return [path for path in files if path != Path(__file__).resolve()]


def lines_with(pattern: str, files: list[Path]) -> list[str]:
    found = re.compile(pattern)
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for path in files
        if path.is_file()
        for number, line in enumerate(path.read_bytes().decode("utf-8", "replace").splitlines(), 1)
        if found.search(line)
    ]


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_tracked_file_holds(what: str):
    assert lines_with(FORBIDDEN[what], tracked_files()) == []


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("a path of one machine", "see /home/anna/x"),
        ("the address of a package registry", "https://registry.npmjs.org/x"),
        ("a key", "sk-ant-api03-" + "a" * 30),
    ],
)
def test_the_pattern_finds(what: str, line: str):
    assert re.search(FORBIDDEN[what], line)
