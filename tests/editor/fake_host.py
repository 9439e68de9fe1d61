"""A host with the manners of the real one and nothing behind them.

Run in place of the interpreter. It answers the handshake, writes what it hears to the file named by
FLEMMA_FAKE_LOG, and does what some commands say: `die` ends it, `ping-context` asks nothing.
Variables: FLEMMA_FAKE_VERSION is the version it claims, FLEMMA_FAKE_FAIL makes it fail at once,
FLEMMA_FAKE_MUTE makes it never answer and never end by itself.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import msgpack

import flemma
from flemma.host.protocol import VERSION

ENTRY = "return require('flemma.rpc').handle(...)"


def tell(method: str, payload: dict[str, Any]) -> None:
    """Send a notification to Lua."""
    sys.stdout.buffer.write(msgpack.packb([2, "nvim_exec_lua", [ENTRY, [method, payload]]]))
    sys.stdout.buffer.flush()


def ready() -> None:
    """Answer the handshake."""
    version = os.environ.get("FLEMMA_FAKE_VERSION", flemma.__version__)
    payload = {"version": VERSION, "plugin_version": version, "channel": 0, "pid": os.getpid()}
    tell("ready", payload)


def hear(method: str, payload: Any) -> None:
    """React to one message of Lua."""
    with Path(os.environ["FLEMMA_FAKE_LOG"]).open("a") as log:
        log.write(json.dumps([os.getpid(), method, payload]) + "\n")
    if method == "start" and "FLEMMA_FAKE_MUTE" not in os.environ:
        ready()
    elif method == "shutdown" and "FLEMMA_FAKE_MUTE" not in os.environ:
        sys.exit(0)
    elif method == "command" and payload["name"] == "die":
        sys.stderr.write("Traceback: the last words\n")
        sys.exit(3)


def main() -> None:
    """Serve until standard input ends."""
    if "FLEMMA_FAKE_FAIL" in os.environ:
        sys.stderr.write("ModuleNotFoundError: No module named 'pynvim'\n")
        sys.exit(1)
    unpacker = msgpack.Unpacker(strict_map_key=False)
    while data := os.read(0, 65536):
        unpacker.feed(data)
        for message in unpacker:
            match message:
                case [2, "flemma", [method, payload]]:
                    hear(method, payload)
                case [0, number, "flemma:ping", _]:
                    answer = {"version": "fake", "python": "3", "pid": os.getpid()}
                    sys.stdout.buffer.write(msgpack.packb([1, number, None, answer]))
                    sys.stdout.buffer.flush()
                case _:
                    pass
    while "FLEMMA_FAKE_MUTE" in os.environ:
        time.sleep(1)


if __name__ == "__main__":
    main()
