"""Finds the built page and command line: beside this file in the wheel, beside package.json in a source tree."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Dict, NamedTuple

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".gz": "application/gzip",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}
# A service worker would outlive this server and answer for the next one on its port.
LEFT_OUT = re.compile(r"^(sw|workbox-[\w-]+)\.js$")
# The page in one file: what a notebook shows.
ONE_FILE = "vramscope.html"


class PageFile(NamedTuple):
    type: str
    path: Path


def built(name: str) -> Path:
    """`dist` or `dist-cli`, wherever it is. Raises FileNotFoundError if it is not built."""
    package = Path(__file__).resolve().parent
    for folder in (package / name, package.parent.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"vramscope's {name} is missing: install the wheel, or run `npm run build` in the source tree")


def page_files() -> Dict[str, PageFile]:
    """The page's files by URL path. Only these are served: no request's path is ever looked up on disk."""
    folder = built("dist")
    files = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            if not LEFT_OUT.match(name):
                files[path.relative_to(folder).as_posix()] = PageFile(TYPES.get(path.suffix, "application/octet-stream"), path)
    return files
