"""The size check of `make lint` finds what is too long, and only that."""

from pathlib import Path

from scripts.check_sizes import CLASS_LINES, FILE_LINES, too_long


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_files_and_classes_are_long_from_one_line_over_the_limit(tmp_path: Path):
    fitting = "class Fits:\n" + "    x = 1\n" * (CLASS_LINES - 1)
    write(tmp_path, "flemma/fits.py", fitting + "\n" * (FILE_LINES - CLASS_LINES))
    write(tmp_path, "flemma/class_.py", fitting + "    y = 1\n")
    write(tmp_path, "lua/flemma/file.lua", "-- x\n" * (FILE_LINES + 1))
    write(tmp_path, "docs/page.md", "x\n" * 1000)
    problems = list(too_long(tmp_path))
    assert [problem.split(":")[0] for problem in problems] == [
        "flemma/class_.py",
        "lua/flemma/file.lua",
    ]
    assert f"class Fits has {CLASS_LINES + 1} lines" in problems[0]
