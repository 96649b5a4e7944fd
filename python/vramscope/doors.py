"""Who may come in: one browser, which gets a cookie when it opens the printed address, or the file that was made for it.

Both work once: an address that somebody else reads later, from a terminal, a history or a list of processes, leads nowhere.
The file is the browser's way in, as its command line can be read by every user of the machine: only the name of a file
stands there, which only this user may read. The rules are those of src/cli/serve/doors.ts; fixtures/server-cases.json holds both to them.
"""

from __future__ import annotations

import os
import secrets
import tempfile
import threading
import time
from pathlib import Path
from typing import Dict, Optional, Set, Tuple

# As long as a browser may take to start.
ENTRANCE_S = 30
COOKIE = "vramscope"
# A browser from a snap sees neither the system's temporary folder nor hidden ones.
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
        # Its path is the token, so that no other server on this machine is sent it.
        # Lax: a Strict one would not come along from a file.
        self.cookie = f"{self._value}; Path=/{token}/; HttpOnly; SameSite=Lax"
        self._entrances: Dict[str, Tuple[str, float]] = {}
        self._files: Set[Path] = set()
        self._is_opened = False
        # Requests are answered in threads of their own.
        self._lock = threading.Lock()

    def is_inside(self, cookies: str) -> bool:
        """Whether a request's `Cookie` is that of the browser that was let in."""
        return any(secrets.compare_digest(one.strip().encode(), self._value.encode()) for one in cookies.split(";"))

    def open_once(self) -> bool:
        """True once: for the first that opens the printed address."""
        with self._lock:
            is_first, self._is_opened = not self._is_opened, True
            return is_first

    def entrance_file(self, root: str, address: str) -> Path:
        """A file that leads to `address` through `root`, once, within half a minute; gone after that."""
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
        """Where the path of an entrance leads; from then on, nowhere."""
        address, until = self._entrances.pop(path, (None, 0))
        if address is None or time.monotonic() > until:
            return None
        self.close()
        return address

    def close(self) -> None:
        """Takes the files away."""
        while self._files:
            try:
                self._files.pop().unlink()
            except (OSError, KeyError):
                pass
