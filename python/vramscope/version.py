"""The version, which the build writes into the wheel; a source tree has that of its package.json."""

from __future__ import annotations

import json
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


def _read() -> str:
    built = PACKAGE / "VERSION"
    if built.exists():
        return built.read_text(encoding="utf-8").strip()
    source = PACKAGE.parent.parent / "package.json"
    return json.loads(source.read_text(encoding="utf-8"))["version"] if source.exists() else "0"


__version__ = _read()
