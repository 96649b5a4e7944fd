"""The files of a job: in folders, all named like snapshots or summaries. Same rules as src/cli/rank-files.ts."""

from __future__ import annotations

import os
import re
from typing import Iterator, List, Sequence, Set

# As in src/analysis/summary-file/rank-of-name.ts.
SUMMARY_NAME = re.compile(r"\.vramscope\.json(\.gz)?$", re.IGNORECASE)
SNAPSHOT_NAME = re.compile(r"\.(pickle|pkl|pt|gz|zip|zst|html)$", re.IGNORECASE)
# Compressed, but not a snapshot: 'rank0.log.gz'.
OTHER_NAME = re.compile(r"\.(log|txt|csv|tar|json|jsonl|npz|out|err)(\.(gz|zip|zst))?$", re.IGNORECASE)
# Finds 'rank3/snapshot.pickle' and 'step_10/node1/rank3.pickle' without searching a whole disk.
MAX_DEPTH = 3


def rank_files(paths: Sequence[str]) -> List[str]:
    """The named files, and those in folders. Follows links, each target once, but never to a folder that contains the link."""
    found = (file for path in paths for file in (_files_of(path, MAX_DEPTH, set()) if os.path.isdir(path) else [path]))
    return list(dict.fromkeys(found))


def is_rank_file(name: str) -> bool:
    """Whether a folder's file is worth reading, by its name. Hidden files are not."""
    if name.startswith("."):
        return False
    return bool(SUMMARY_NAME.search(name) or (SNAPSHOT_NAME.search(name) and not OTHER_NAME.search(name)))


def _files_of(folder: str, depth: int, seen: Set[str]) -> Iterator[str]:
    own = os.path.realpath(folder)
    seen.add(own)
    with os.scandir(folder) as scanned:
        # Links last, so that a file keeps its own name if it is in this folder too.
        entries = sorted(scanned, key=lambda entry: (entry.is_symlink(), entry.name))
    for entry in entries:
        target = os.path.realpath(entry.path)
        if entry.name.startswith(".") or target in seen or os.path.join(own, "").startswith(os.path.join(target, "")):
            continue
        if entry.is_dir() and depth > 0:
            yield from _files_of(entry.path, depth - 1, seen)
        elif entry.is_file() and is_rank_file(entry.name):
            seen.add(target)
            yield entry.path
