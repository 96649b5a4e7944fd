"""DistributedDataParallel's gradient buckets: its reducer holds them in C++, so no variable leads to them.

They are known by where they were allocated, and only if the bytes add up: what DDP allocated in one place must be exactly
as large as the trainable parameters of exactly one DDP. The reducer itself is not asked: it may be locked, at an OOM even
by this thread.
"""

from __future__ import annotations

from .holder_children import attributes_of
from .holder_names import BEFORE, class_name, mro_of

FILE = "torch/nn/parallel/distributed.py"
#: Its functions that let the reducer allocate buckets: when it is made, and after the first backward pass.
CALLERS = ("_ddp_init_helper", "_pre_forward")
BYTES_OF_FLAG = 4


def is_ddp(kind):
    return any(class_name(c) == "DistributedDataParallel" for c in mro_of(kind))


def name_buckets(walk, tensors, snapshot):
    """Names them `gradient buckets of model`, if the snapshot says where its blocks were allocated."""
    if not walk.ddp or snapshot is None:
        return
    models = [(link, *_trainable(link[3], tensors)) for link in walk.ddp]
    for blocks in _reducers_blocks(snapshot):
        # With `find_unused_parameters`, a flag for each parameter is there too.
        total = sum(blocks.values())
        fitting = [model for model in models if model[1] > 0 and total - model[1] in (0, BYTES_OF_FLAG * model[2])]
        if len(fitting) != 1:
            continue
        link, size, count = fitting[0]
        flags = BYTES_OF_FLAG * count if total > size else None
        for address, nbytes in blocks.items():
            if nbytes == flags:
                flags = None
            else:
                walk.name_storage(address, nbytes, (link, BEFORE, "gradient buckets of ", None), "tensor")


def _reducers_blocks(snapshot):
    """Live blocks that a reducer may have allocated: for each call stack, {address: requested bytes}."""
    found = {}
    for block in (b for s in snapshot["segments"] for b in s["blocks"] if b["state"] != "inactive" and "address" in b):
        frames = block.get("frames") or ()
        innermost = next((f for f in frames if f["filename"].endswith(".py")), None)
        if innermost and innermost["name"] in CALLERS and innermost["filename"].replace("\\", "/").endswith(FILE):
            stack = tuple((f["filename"], f["line"]) for f in frames)
            found.setdefault(stack, {})[block["address"]] = block.get("requested_size", block["size"])
    return list(found.values())


def _trainable(model, tensors):
    """(bytes, number) of the parameters whose gradients a DDP reduces; (0, 0) if unknown."""
    held = {name: value for _, name, value in attributes_of(type(model))(model)}
    parameters = held.get("_module_parameters")
    try:
        if any(tensors.is_wrapper(type(p)) for p in list.__iter__(parameters)):
            return 0, 0
        sizes = [tensors.storage(p)[1] for p in list.__iter__(parameters) if tensors.requires_gradient(p)]
        return sum(sizes), len(sizes)
    except TypeError:  # not a list of tensors, so not PyTorch's class
        return 0, 0
