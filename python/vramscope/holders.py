"""Which variable of the program holds each tensor? Asked once, when a snapshot is taken.

    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    vramscope.holders("snapshot.pickle")  # writes snapshot.holders.json beside it

The program is not affected: nothing is allocated on the GPU, no reference is kept, and none of its code runs.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time

from .attempt import attempt
from .holder_buckets import name_buckets
from .holder_cycles import name_cycles
from .holder_graphs import Graphs
from .holder_names import name_of
from .holder_owners import Owners
from .holder_roots import roots
from .holder_tensors import Tensors
from .holder_walk import Walk
from .snapshot_file import path_of_rank, rank_and_size, replace_file, split_suffix

VERSION = 1
BUDGET_S = 2.0
#: Most storages to write.
MOST_STORAGES = 200_000
#: Share of the budget for objects; the rest is for graphs.
SHARE_OF_OBJECTS = 0.65
NAMES = ("all", "types")


def holders(path=None, *, budget_s=BUDGET_S, names="all"):
    """Names for the GPU memory of this process, as docs/python.md describes them; None, after a warning, if that fails.

    path: of a snapshot. What is found is written beside it, as `NAME.holders.json`: vramscope opens both together. With
        several ranks each writes its own, as :func:`vramscope.record` does.
    budget_s: seconds after which it stops; the file then says how much was not examined.
    names: "types" leaves the keys of dictionaries out, which may be data.
    """
    check_names(names)

    def find():
        import torch

        found = find_holders(torch, sys._getframe(1), budget_s, names)
        if path is not None:
            stem, _ = split_suffix(path_of_rank(os.fsdecode(path), *rank_and_size(torch)))
            replace_file(f"{stem}.holders.json", lambda file: file.write(json.dumps(found).encode()))
        return found

    return attempt("find the holders", find)


def check_names(names):
    if names not in NAMES:
        raise ValueError('names is "all" or "types"')


def find_holders(torch, frame, budget_s=BUDGET_S, names="all", snapshot=None):
    """The value of a snapshot's key `holders`.

    frame: the innermost one to look at.
    snapshot: whose live blocks are to be named; None if unknown.
    """
    start = time.perf_counter()
    was_enabled = gc.isenabled()
    gc.disable()  # garbage of the program stays until its own next collection
    try:
        tensors = Tensors(torch)
        with tensors.quietly():
            walk = Walk(tensors, start + budget_s * SHARE_OF_OBJECTS, _live(snapshot))
            for group in roots(frame):
                walk.group(group)
            left = walk.end_phase(start + budget_s)
            walk.optimizers()
            name_buckets(walk, tensors, snapshot)
            graphs = Graphs(torch, walk)
            graphs.run()
            name_cycles(walk, lambda tensor: walk.has_unnamed(tensor) or graphs.is_new(tensors.graph(tensor)))
            graphs.run()  # of the tensors in cycles
            owners = Owners(with_keys=names == "all")
            storages, more = _storages(walk.found, owners, names == "all")
        return {
            "version": VERSION,
            "torch": str(torch.__version__),
            "storages": storages,
            "owners": owners.rows(),
            "objects": walk.objects,
            "nodes": graphs.nodes,
            "left": left + more,
            "graphs": graphs.reason or "read",
            "seconds": round(time.perf_counter() - start, 3),
        }
    finally:
        if was_enabled:
            gc.enable()


def _live(snapshot):
    """Addresses of the live blocks; None if unknown: PyTorch before 2.2 wrote none."""
    segments = snapshot["segments"] if snapshot is not None else ()
    return {b["address"] for s in segments for b in s["blocks"] if b["state"] != "inactive" and "address" in b} or None


def _storages(found, owners, with_keys):
    """Columns of equal length, the largest storages first, and how many did not fit."""
    largest = sorted(found.items(), key=lambda item: -item[1][2])
    columns = {"address": [], "bytes": [], "name": [], "kind": [], "owner": []}
    for address, (link, kind, nbytes) in largest[:MOST_STORAGES]:
        name = name_of(link, with_keys)
        row = (address, nbytes, f"the graph of {name}" if kind == "graph" else name, kind, owners.index_of(link, kind))
        for column, value in zip(columns.values(), row):
            column.append(value)
    return columns, max(0, len(largest) - MOST_STORAGES)
