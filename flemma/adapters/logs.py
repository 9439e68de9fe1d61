"""The log file of a front end: pynvim's own logging is stripped from its wheel, and stdout is taken."""

import logging
from collections.abc import Mapping
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

LIMIT = 4 << 20
"""Bytes of the log file before it is rotated."""

TRACE = 5
_LEVELS = {"TRACE": TRACE, "DEBUG": 10, "INFO": 20, "WARN": 30, "ERROR": 40}


def set_up_logging(default_path: str | None, options: Mapping[str, Any]) -> None:
    """Log errors always, the rest if `logging.enabled` says so."""
    chosen: Any = options.get("logging") or {}
    logging.addLevelName(TRACE, "TRACE")
    path = chosen.get("path") or default_path
    level = _LEVELS.get(str(chosen.get("level", "DEBUG")), 10) if chosen.get("enabled") else 40
    root = logging.getLogger()
    root.setLevel(level)
    if not path:
        return
    target = Path(path).expanduser()
    target.parent.mkdir(parents=True, exist_ok=True)
    handler = RotatingFileHandler(
        target, maxBytes=LIMIT, backupCount=1, encoding="utf-8", delay=True
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root.handlers = [handler]
    # Its debug lines would name every request with its headers.
    logging.getLogger("httpcore").setLevel(logging.WARNING)
    logging.getLogger("httpx").setLevel(logging.WARNING)
