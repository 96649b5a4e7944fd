"""The program's own files that stand in the recorded stacks, for `record(source=True)`. docs/python.md has the format.

Read when the snapshot is taken: from disk or, if there is no such file (a notebook's cell, typed code), from what Python
keeps of it. Files that cannot be read, or are too large, are named with the reason.
"""

from __future__ import annotations

import hashlib
import importlib.util
import linecache
import os
import re
import stat
import sysconfig
import time
from operator import itemgetter

from .attempt import warn

VERSION = 1
#: As src/format/snapshot/read-source.ts has them.
MOST_BYTES = 1 << 20
MOST_BYTES_IN_ALL = 8 << 20
MOST_FILES = 1000
#: Packages, and what compilers write at run time.
NOT_OWN = re.compile(r"(^|/)((site|dist)-packages|torchinductor_[^/]*|\.?triton/cache)/")
#: Python's and the notebooks' names for typed code.
TYPED = re.compile(r"<(stdin|input|console|ipython|python-input|cell|command|doctest|torch_package)|.*/\.?ipykernel[^/]*/")
#: Files changed after this were changed while the program ran.
_started_s = time.time()


class _TooLarge(ValueError):
    pass


def recorded_source(snapshot, torch):
    """The value of a snapshot's key `source_files`."""
    files, missing, left, is_cut = [], {}, MOST_BYTES_IN_ALL, False
    # The smaller ones first, so that few are left out.
    for filename in sorted(_own_files(snapshot, torch), key=lambda name: (_size(name), name)):
        try:
            content, changed_s = _read(filename)
            if len(content) > left or len(files) == MOST_FILES:
                raise _TooLarge(f"the limit is {MOST_FILES} files with {MOST_BYTES_IN_ALL >> 20} MiB in all")
            row = {"filename": filename, "sha256": hashlib.sha256(content).hexdigest(), "text": importlib.util.decode_source(content)}
        except Exception as error:
            is_cut = is_cut or isinstance(error, _TooLarge)
            missing[filename] = getattr(error, "strerror", None) or str(error) or type(error).__name__
            continue
        if changed_s is not None and changed_s > _started_s:
            row["changed"] = True
        files.append(row)
        left -= len(content)
    if is_cut:
        warn(f"the snapshot does not have all source files: {'; '.join(f'{name}: {why}' for name, why in missing.items())[:500]}")
    return {"version": VERSION, "files": files, "missing": missing}


def _own_files(snapshot, torch):
    """Names of the user's files, as the frames have them."""
    folders = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), os.path.dirname(__file__)]
    folders += [os.path.dirname(torch.__file__)] if getattr(torch, "__file__", None) else []
    others = tuple(_comparable(folder) + "/" for folder in folders)

    def is_own(filename):
        path = _comparable(filename)
        if NOT_OWN.search(path) or path.startswith(others):
            return False
        return TYPED.match(path) is not None or (path.endswith(".py") and not path.startswith("<"))

    names = set()
    for stack in _stacks(snapshot):
        names.update(map(itemgetter("filename"), stack))
    return [name for name in names if is_own(name)]


def _comparable(path):
    return os.path.normcase(path).replace("\\", "/")


def _stacks(snapshot):
    for segment in snapshot.get("segments", ()):
        yield segment.get("frames", ())
        for block in segment.get("blocks", ()):
            yield block.get("frames", ())
    for trace in snapshot.get("device_traces", []) + snapshot.get("host_traces", []):
        for event in trace:
            yield event.get("frames", ())


def _size(filename):
    try:
        return os.stat(filename).st_size
    except OSError:
        return len(_typed(filename) or "")


def _read(filename):
    """Its bytes, and when they were last changed, if they are on disk."""
    try:
        # Waits for no pipe.
        descriptor = os.open(filename, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError:
        text = _typed(filename)
        if text is None:
            raise
        content, changed_s = text.encode("utf-8", "surrogatepass"), None
    else:
        with os.fdopen(descriptor, "rb") as file:
            about = os.fstat(descriptor)
            if not stat.S_ISREG(about.st_mode):
                raise ValueError("not a regular file")
            content, changed_s = file.read(MOST_BYTES + 1), about.st_mtime
    if len(content) > MOST_BYTES:
        raise _TooLarge(f"it is larger than {MOST_BYTES >> 20} MiB")
    return content, changed_s


def _typed(filename):
    """The text of a cell or of typed code; None if Python has not kept it."""
    kept = linecache.cache.get(filename, ())
    return "".join(kept[2]) if len(kept) == 4 else None
