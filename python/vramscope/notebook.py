"""Shows a snapshot in a notebook's cell: the whole page in a frame.

The page and the file are part of the cell's output, so this needs no server and no network, and works even if the
notebook's browser cannot reach the kernel's machine. A larger file is served on loopback.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import secrets
from pathlib import Path
from typing import Optional

from .page_files import ONE_FILE, built
from .server import SnapshotServer, check_readable
from .terminal import printable
from .version import __version__

# A notebook's file contains its outputs, and larger ones make editors slow.
MOST_INLINE_BYTES = 24 << 20
GZIP = b"\x1f\x8b"
CHARSET = re.compile(r'<meta charset="[^"]*"\s*/?>', re.IGNORECASE)

# Servers of larger files, one each, for as long as the kernel runs.
_servers = {}

FRAME = """<div id="{id}" style="width:100%;height:{height}px"></div>
<script>(async () => {{
  const packed = Uint8Array.from(atob("{data}"), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const frame = document.createElement("iframe");
  // Its own origin: nothing in the frame can reach the notebook.
  frame.sandbox = "allow-scripts allow-downloads";
  frame.title = "vramscope";
  frame.style = "width:100%;height:100%;border:0";
  frame.srcdoc = await new Response(stream).text();
  document.getElementById("{id}").replaceChildren(frame);
}})();</script>"""


class Shown:
    """What a notebook displays for a snapshot: HTML there, a line of text elsewhere."""

    def __init__(self, html: str, text: str):
        self._html, self._text = html, text

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return printable(self._text)


def show(path="snapshot.pickle", *, height: int = 720, server: Optional[bool] = None) -> Shown:
    """The snapshot at `path`, for the last line of a notebook's cell.

    height: of the frame, in pixels.
    server: True serves the file on loopback, which only a browser on the kernel's own machine can reach (or one with
        the port forwarded); False puts it into the cell's output. By default files of up to
        24 MiB, compressed, go into the output.

    Raises FileNotFoundError, or another OSError, if the file cannot be read.
    """
    path = Path(os.fspath(path))
    problem = check_readable(path)
    if problem is not None:
        raise FileNotFoundError(problem) if not path.exists() else OSError(problem)
    packed = None if server is True or (server is None and path.stat().st_size > 64 * MOST_INLINE_BYTES) else _gzipped(path)
    if packed is not None and (server is False or len(packed) <= MOST_INLINE_BYTES):
        return Shown(_inline(path.name, packed, height), f"vramscope: {path.name} (shown in notebooks)")
    return _served(path, height)


def _inline(name: str, packed: bytes, height: int) -> str:
    page = gzip.compress(report_page(name, packed).encode(), 6)
    return FRAME.format(id=f"vramscope-{secrets.token_hex(8)}", height=int(height), data=base64.b64encode(page).decode())


def _served(path: Path, height: int) -> Shown:
    key = str(path.resolve())
    if key not in _servers:
        _servers[key] = SnapshotServer([path], is_framed=True)
    (address,) = _servers[key].addresses
    html = f'<iframe src="{address}" title="vramscope" style="width:100%;height:{int(height)}px;border:0"></iframe>'
    return Shown(html, f"vramscope: {path.name} at {address}")


def report_page(name: str, packed: bytes) -> str:
    """The page in one file with the gzipped snapshot inside, as src/output/report/report-page.ts describes it."""
    shell = (built("dist") / ONE_FILE).read_text(encoding="utf-8")
    report = {
        "format": 1,
        "title": name,
        "notes": "",
        "hash": "",
        "madeAt": "",
        "version": __version__,
        "base64": base64.b64encode(packed).decode(),
    }
    text = json.dumps(report).replace("<", "\\u003c")
    charset = CHARSET.search(shell)
    if charset is None:
        raise ValueError("The page in one file has no charset: a fault of the build")
    element = f'\n<script type="application/json" id="vramscope-report">{text}</script>'
    return shell[: charset.end()] + element + shell[charset.end() :]


def _gzipped(path: Path) -> bytes:
    content = path.read_bytes()
    # This hardly enlarges files that are compressed in another way (zip, zstd).
    return content if content.startswith(GZIP) else gzip.compress(content, 6)
