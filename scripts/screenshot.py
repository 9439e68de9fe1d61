"""Make the picture of the README from a real run of the tour: ``python -m scripts.screenshot``."""

import sys
import tempfile

from scripts.demo import scratch_copy
from scripts.install import ROOT, say
from scripts.svg import to_svg
from tests.support.nvim import Editor

PICTURE = ROOT / "docs" / "images" / "flemma.svg"
TITLE = "Flemma in Neovim: the model has read and edited a file and asks to run a command"
OPTIONS = {"provider": "demo", "tools": {"auto_approve_sandboxed": False}}
"""With a sandbox the command would not wait, and the picture is about what does."""
ENVIRONMENT = {"TMPDIR": tempfile.gettempdir()}
"""The private directory of a test has a long name that means nothing in a picture."""
SIZE = (96, 40)


def main() -> int:
    """Take the tour up to the command that waits for approval and draw what is on the screen."""
    with (
        scratch_copy() as scratch,
        Editor(options=OPTIONS, environment=ENVIRONMENT, size=SIZE, directory=scratch) as editor,
    ):
        editor.open("tour.chat")
        editor.keys("G<C-]>")
        editor.wait_for_text("any word", timeout=60)
        editor.wait_until(lambda: editor.text().endswith("@You:\n"), message="a new prompt")
        editor.keys("Gihello<Esc><C-]>")
        editor.wait_for_text("(pending)", timeout=60)
        editor.keys("Gzb<C-e><C-e>")
        editor.wait_until(
            lambda: any("bash: $" in line for line in editor.screen_lines()),
            message="a preview of the command on the screen",
        )
        PICTURE.parent.mkdir(parents=True, exist_ok=True)
        PICTURE.write_text(to_svg(editor.screen, TITLE))
    say(f"Wrote {PICTURE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
