"""What Neovim sends while the host still starts is not lost."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgpack

import flemma
from flemma.host.protocol import VERSION

ROOT = Path(__file__).resolve().parents[3]


def _start(log: Path) -> dict[str, Any]:
    return {
        "version": VERSION,
        "plugin_version": flemma.__version__,
        "pid": 0,
        "options": {},
        "cwd": str(log.parent),
        "columns": 80,
        "log_path": str(log),
        "lua_modules": [],
    }


def test_messages_that_wait_in_the_pipe_before_the_loop_runs_are_handled(tmp_path: Path) -> None:
    opened = {"bufnr": 7, "path": str(tmp_path / "a.chat"), "width": 80, "restarted": False}
    early = [["start", _start(tmp_path / "flemma.log")], ["buffer:opened", opened]]
    with subprocess.Popen(
        [sys.executable, "-m", "flemma.host"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    ) as host:
        assert host.stdin is not None
        assert host.stdout is not None
        # All of it is in the pipe long before the interpreter has imported anything.
        for message in early:
            host.stdin.write(msgpack.packb([2, "flemma", message]))
        host.stdin.flush()
        sent = msgpack.Unpacker(host.stdout, max_buffer_size=1 << 20, read_size=1)
        asked = next(message for message in sent if message[0] == 0)
        host.stdin.close()

    assert asked[2:] == ["nvim_buf_attach", [7, True, {}]]
