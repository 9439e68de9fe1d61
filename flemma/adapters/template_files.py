"""Files that templates include: implements :class:`flemma.templating.files.TemplateFiles`."""

import stat
from pathlib import Path

from flemma.templating.files import Unreadable
from flemma.text.sizes import format_size

LIMIT = 32 << 20
"""Bytes of the largest file that is read; no provider takes more in one request."""


class DiskTemplateFiles:
    """Reads regular files only: a FIFO or device would never end (case E-24)."""

    def read(self, path: str) -> bytes | Unreadable:
        """Return the content of an absolute path."""
        target = Path(path)
        try:
            status = target.stat()
            if not stat.S_ISREG(status.st_mode):
                return Unreadable("not a regular file")
            if status.st_size > LIMIT:
                return Unreadable(
                    f"{format_size(status.st_size)}, larger than the {format_size(LIMIT)} limit"
                )
            return target.read_bytes()
        except FileNotFoundError as error:
            return Unreadable(error.strerror or "missing", missing=True)
        except (OSError, ValueError) as error:
            return Unreadable(getattr(error, "strerror", None) or str(error))
