"""The program's own files: `vramscope FILE --source .` shows their text, and opens them in the editor.

The rules are those of src/cli/serve/source-files.ts.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import List, NamedTuple

# A checkout has fewer. The limit stops at a whole disk, and the command says so when it starts.
MAX_FILES = 20_000
LEFT_OUT = re.compile(r"^(\..*|__pycache__|node_modules)\Z")


class SourceFiles(NamedTuple):
    #: The folder that holds the named one, without links: /home/me
    above: Path
    #: Relative to it: run/models/gpt.py
    paths: List[str]
    #: False if there were more.
    is_complete: bool


def source_files(folder: str) -> SourceFiles:
    """All Python files in a folder and its subfolders, except hidden folders, virtual environments and links.

    Raises OSError if it is not a folder.
    """
    root = Path(folder).resolve(strict=True)
    os.scandir(root).close()
    paths: List[str] = []
    for own, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not LEFT_OUT.match(name) and not os.path.exists(os.path.join(own, name, "pyvenv.cfg"))]
        here = [os.path.join(own, name) for name in files if name.endswith(".py")]
        paths += [Path(path).relative_to(root.parent).as_posix() for path in here if not os.path.islink(path)]
        if len(paths) >= MAX_FILES:
            return SourceFiles(root.parent, paths[:MAX_FILES], False)
    return SourceFiles(root.parent, paths, True)
