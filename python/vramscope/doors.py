"""Lets in one browser. It gets a cookie when it opens the printed address, or the entrance file made for it.

Each works once: an address that somebody later finds in a terminal, a history or a process list leads nowhere. The
entrance file exists because every user of the machine can read the browser's command line. That shows only the file's
name, and only this user can read the file. The rules are those of src/cli/serve/doors.ts; both are tested with
fixtures/server-cases.json.
"""

from __future__ import annotations

import os
import secrets
import tempfile
import threading
import time
from pathlib import Path
from typing import Dict, Optional, Set, Tuple

# Time for a browser to start.
ENTRANCE_S = 30
COOKIE = "vramscope"
# A browser from a snap sees neither the system's temporary folder nor hidden folders.
SNAPS = "/snap/bin"

PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={url}">
<title>vramscope</title>
<a href="{url}">Open vramscope</a>
"""


class Doors:
    def __init__(self, token: str):
        self._value = f"{COOKIE}={secrets.token_hex(16)}"
        # Limited to the token's path, so that no other server on this machine receives it.
        # Lax, because browsers don't send a Strict cookie on a visit from a file.
        self.cookie = f"{self._value}; Path=/{token}/; HttpOnly; SameSite=Lax"
        self._entrances: Dict[str, Tuple[str, float]] = {}
        self._files: Set[Path] = set()
        self._is_opened = False
        # Each request is answered in its own thread.
        self._lock = threading.Lock()

    def is_inside(self, cookies: str) -> bool:
        """Whether a request's `Cookie` belongs to the browser that was let in."""
        return any(secrets.compare_digest(one.strip().encode(), self._value.encode()) for one in cookies.split(";"))

    def open_once(self) -> bool:
        """True once: for the first request to the printed address."""
        with self._lock:
            is_first, self._is_opened = not self._is_opened, True
            return is_first

    def entrance_file(self, root: str, address: str) -> Path:
        """Writes a file that leads to `address` through `root` once, within half a minute, and is removed after that."""
        path = f"/open/{secrets.token_hex(16)}"
        self._entrances[path] = (address, time.monotonic() + ENTRANCE_S)
        folder = Path.home() if os.path.isdir(SNAPS) else Path(tempfile.gettempdir())
        file = folder / f"vramscope-{secrets.token_hex(16)}.html"
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as page:
            page.write(PAGE.format(url=root + path))
        self._files.add(file)
        timer = threading.Timer(ENTRANCE_S, self.close)
        timer.daemon = True
        timer.start()
        return file

    def take(self, path: str) -> Optional[str]:
        """Where an entrance's path leads. Works once."""
        address, until = self._entrances.pop(path, (None, 0))
        if address is None or time.monotonic() > until:
            return None
        self.close()
        return address

    def close(self) -> None:
        """Removes the files."""
        while self._files:
            try:
                self._files.pop().unlink()
            except (OSError, KeyError):
                pass
