"""Names and writes snapshot files."""

from __future__ import annotations

import errno
import gzip
import os
import pickle
import re
import secrets
import stat

# Variables by which launchers tell a process its rank before torch.distributed knows it.
RANK_VARIABLES = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
SIZE_VARIABLES = ("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")


def rank_and_size(torch=None):
    """This process's rank and the number of ranks; (None, 1) for a single process."""
    distributed = getattr(torch, "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    rank = _first_number(RANK_VARIABLES)
    return rank, (_first_number(SIZE_VARIABLES) or 1) if rank is not None else 1


def _first_number(names):
    given = (os.environ.get(name, "") for name in names)
    return next((int(text) for text in given if re.fullmatch("[0-9]{1,9}", text)), None)


def split_suffix(path):
    """`runs/a.b.pickle.gz` as `runs/a.b` and `.pickle.gz`."""
    match = re.search(r"(\.(?:pickle|pkl|pt))?(\.gz)?$", path)
    return path[: match.start()], match.group() or ".pickle"


def path_of_rank(path, rank, size):
    if "{rank}" in path:
        return path.replace("{rank}", str(rank or 0))
    stem, suffix = split_suffix(path)
    return path if rank is None or size <= 1 else f"{stem}-rank{rank}{suffix}"


# Untouched for this long, a temporary file was abandoned. A process id would not tell: machines and containers share folders.
ABANDONED_SECONDS = 600


def write_pickle(snapshot, path):
    """Writes a snapshot, gzipped if the name ends in `.gz`. Raises OSError if that fails: see :func:`replace_file`."""

    def write(file):
        if path.endswith(".gz"):
            with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file) as packed:
                pickle.dump(snapshot, packed, protocol=4)
        else:
            pickle.dump(snapshot, file, protocol=4)

    replace_file(path, write)


def replace_file(path, write):
    """Calls `write(file)` with a new file that replaces `path` once it is complete.

    A program killed meanwhile leaves no partial file under that name; the next write to the folder removes its temporary
    file, once it is ten minutes old. A link at `path` is replaced, not followed, because it may be somebody else's.
    Anything but a file (a device, a pipe, an open file's link in /proc) is refused.
    """
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    _refuse_streams(path)
    # Nobody can put a link there first: the name cannot be guessed, and O_EXCL follows no links.
    part = os.path.join(folder, f".vramscope-{secrets.token_hex(8)}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(part, flags, 0o666), "wb") as file:
            _remove_abandoned(folder, os.fstat(file.fileno()).st_mtime)
            write(file)
        os.replace(part, path)
    except BaseException:
        _remove(part)
        raise


def _refuse_streams(path):
    try:
        found = os.stat(path)
    except OSError:
        return
    is_open_file = os.path.islink(path) and os.readlink(path).startswith("/proc/")
    if is_open_file or not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "This is not a regular file, so it is left as it is", path)


def _remove_abandoned(folder, now):
    """Removes the temporary files of killed programs. `now` comes from the disk's clock, which may be another machine's."""
    try:
        with os.scandir(folder or os.curdir) as entries:
            for entry in entries:
                if re.fullmatch(r"\.vramscope-[0-9a-f]{16}\.part", entry.name):
                    if now - entry.stat(follow_symlinks=False).st_mtime > ABANDONED_SECONDS:
                        _remove(entry.path)
    except OSError:
        pass  # a leftover file is no reason to fail


def _remove(path):
    try:
        os.remove(path)
    except OSError:
        pass  # replaced already, or the folder is gone
