"""The log file of a front end; pynvim's own logging is stripped from its wheel."""

import logging
from collections.abc import Mapping
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

LIMIT = 4 << 20
"""Bytes of the log file before it is rotated."""

TRACE = 5
LEVELS = {"TRACE": TRACE, "DEBUG": 10, "INFO": 20, "WARN": 30, "ERROR": 40}


def log_path(default_path: str | None, options: Mapping[str, Any]) -> Path | None:
    """Return where the log goes, None for nowhere."""
    chosen: Mapping[str, Any] = options.get("logging") or {}
    path = chosen.get("path") or default_path
    return Path(str(path)).expanduser() if path else None


def set_up_logging(default_path: str | None, options: Mapping[str, Any]) -> None:
    """Log errors always, the rest if `logging.enabled` says so."""
    chosen: Mapping[str, Any] = options.get("logging") or {}
    logging.addLevelName(TRACE, "TRACE")
    wanted = LEVELS.get(str(chosen.get("level", "DEBUG")), logging.DEBUG)
    root = logging.getLogger()
    root.setLevel(wanted if chosen.get("enabled") else logging.ERROR)
    # Their debug lines would name every request with its headers, or say nothing.
    for name in ("httpcore", "httpx", "asyncio"):
        logging.getLogger(name).setLevel(logging.WARNING)
    target = log_path(default_path, options)
    if target is None:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    handler = RotatingFileHandler(
        target, maxBytes=LIMIT, backupCount=1, encoding="utf-8", delay=True
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root.handlers = [handler]
