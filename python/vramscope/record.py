"""Records a PyTorch memory snapshot around a piece of a program.

    with vramscope.record("snapshot.pickle"):
        train()

    @vramscope.record("snapshot.pickle", stacks="all")
    def main(): ...

Nothing here stops the program that is recorded: what cannot be recorded or written is a warning, and an
exception of the program passes through unchanged.
"""

from __future__ import annotations

import functools
import gzip
import inspect
import os
import pickle
import re
import time
import warnings
from collections import deque

MOST_EVENTS = 1_000_000
# Launchers that tell a process its rank before torch.distributed knows it.
RANK_VARIABLES = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
SIZE_VARIABLES = ("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")

# The recordings that are running: PyTorch calls an observer for good once it is attached.
_running = []
_observer_attached = False


class Recording:
    """One recording: a context manager, a decorator, and what writes the file. See :func:`record`."""

    def __init__(self, path, stacks, max_entries, last_steps, on_oom, annotations, pinned):
        if stacks not in ("python", "all"):
            raise ValueError('stacks is "python" or "all"')
        if last_steps is not None and last_steps < 1:
            raise ValueError("last_steps is at least 1")
        self._path = os.fspath(path)
        self._options = {"stacks": stacks, "max_entries": max_entries}
        if annotations:
            self._options["global_record_annotations"] = True
        if pinned:
            self._options["record_pinned_host_memory"] = True
        self._on_oom = on_oom
        # Where the last steps end, and where the first of them begins: there the file begins too.
        self._bounds = None if last_steps is None else deque(maxlen=last_steps + 1)
        self._torch = None
        self._stops_history = False
        #: Paths of the files that were written, in their order.
        self.files = []

    def __enter__(self):
        self.files = []
        self._torch = _usable_torch()
        if self._torch is None:
            return self
        if self._bounds is not None:
            self._bounds.clear()
            self._bounds.append(_now_us())
        self._stops_history = self._start()
        _running.append(self)
        if self._on_oom:
            _attach_observer(self._torch)
        return self

    def __exit__(self, kind, error, traceback):
        if self._torch is None:
            return False
        if self in _running:
            _running.remove(self)
        self.dump()
        if self._stops_history:
            _warned("stop the recording", lambda: self._torch.cuda.memory._record_memory_history(enabled=None))
        self._torch = None
        return False

    def __call__(self, function):
        """Records each call of `function`; a later call replaces the file of the one before."""
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def recorded(*args, **kwargs):
                with self:
                    return await function(*args, **kwargs)

        else:

            @functools.wraps(function)
            def recorded(*args, **kwargs):
                with self:
                    return function(*args, **kwargs)

        return recorded

    def step(self):
        """Marks the end of a step: with `last_steps=3` the file holds the last three, and what runs after them."""
        if self._bounds is not None:
            self._bounds.append(_now_us())

    def dump(self, path=None):
        """Writes what was recorded so far, to `path` or to the recording's own; returns the file's name, or None."""
        if self._torch is None:
            return None
        return _warned("write the snapshot", lambda: self._write(self._path if path is None else os.fspath(path)))

    def _start(self):
        """True where this recording is the one that has to stop PyTorch's history at its end."""
        memory = self._torch.cuda.memory
        if _history_is_on(self._torch):
            return False
        # The public one takes any words in some versions, and hands them to this one.
        takes = getattr(memory, "_record_memory_history_impl", memory._record_memory_history)
        options, missing = _known_options(takes, self._options)
        for name in missing:
            _warn(f"PyTorch {self._torch.__version__} does not know {name}: recording without it")
        return _warned("start the recording", lambda: memory._record_memory_history(**options) or True) is True

    def _write(self, path):
        path = path_of_rank(path, *_rank_and_size(self._torch))
        snapshot = self._torch.cuda.memory._snapshot()
        if self._bounds:
            if not keep_since(snapshot, self._bounds[0]):
                _warn(f"PyTorch {self._torch.__version__} records no times: the file holds all steps")
        write_pickle(snapshot, path)
        self.files.append(path)
        return path

    def _out_of_memory(self):
        """What was alive when the request failed. The first time only: a program may catch one after another."""
        if any(".oom." in os.path.basename(file) for file in self.files):
            return
        stem, suffix = split_suffix(self._path)
        self.dump(f"{stem}.oom{suffix}")


def record(
    path="snapshot.pickle", *, stacks="python", max_entries=MOST_EVENTS, last_steps=None, on_oom=True, annotations=False, pinned=False
):
    """A recording of the GPU memory of this process, as a context manager or a decorator.

    path: the file to write at the end, also when the program fails. With several ranks each writes its own:
        `snapshot.pickle` becomes `snapshot-rank3.pickle`, or put `{rank}` where it belongs. A name that
        ends in `.gz` is compressed.
    stacks: "python", or "all" for C++ frames too: then the dump is many times slower.
    max_entries: events kept; older ones are dropped.
    last_steps: keep only the last N steps; call `.step()` on the recording at the end of each.
    on_oom: when memory runs out, also write `snapshot.oom.pickle` at that very moment, once.
    annotations: record the ranges of `torch.profiler.record_function`, where PyTorch can.
    pinned: record pinned host memory too (PyTorch 2.14 and later).

    Starts before the model is built to know the line of every allocation. Works with PyTorch 2.1 to 2.14;
    without a CUDA or ROCm device it warns and runs the program as it is.
    """
    return Recording(path, stacks, max_entries, last_steps, on_oom, annotations, pinned)


def _usable_torch():
    """PyTorch, where it has a GPU to record; else None, after a warning that says what is missing."""
    try:
        import torch
    except ImportError:
        _warn("PyTorch is not installed: nothing is recorded")
        return None
    if not torch.cuda.is_available():
        _warn(f"PyTorch {torch.__version__} finds no CUDA device: nothing is recorded")
        return None
    # Before CUDA starts there is no allocator: PyTorch ends the process where one is asked about its history.
    if _warned("start CUDA", lambda: torch.cuda.init() or True) is None:
        return None
    if not hasattr(torch.cuda.memory, "_record_memory_history"):
        _warn(f"PyTorch {torch.__version__} cannot record memory: nothing is recorded")
        return None
    return torch


def _history_is_on(torch):
    """Whether the program, or an outer recording, has started PyTorch's history already."""
    is_on = getattr(torch._C, "_cuda_isHistoryEnabled", None)
    return bool(is_on()) if is_on is not None else bool(_running)


def _known_options(function, options):
    """`options` that `function` takes, and the names of those that it does not."""
    parameters = inspect.signature(function).parameters
    known = {name: value for name, value in options.items() if name in parameters}
    return known, [name for name in options if name not in parameters]


def _attach_observer(torch):
    global _observer_attached
    attach = getattr(torch._C, "_cuda_attach_out_of_memory_observer", None)
    if _observer_attached or attach is None:
        return

    def observe(device, requested, device_requested, device_free):
        for recording in list(_running):
            if recording._on_oom:
                recording._out_of_memory()

    if _warned("watch for running out of memory", lambda: attach(observe) or True):
        _observer_attached = True


def _rank_and_size(torch=None):
    """This process's rank and the number of ranks; (None, 1) for a process alone."""
    distributed = getattr(torch, "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    rank = _first_number(RANK_VARIABLES)
    return rank, (_first_number(SIZE_VARIABLES) or 1) if rank is not None else 1


def _first_number(names):
    return next((int(os.environ[name]) for name in names if os.environ.get(name, "").isdigit()), None)


def split_suffix(path):
    """`runs/a.b.pickle.gz` as `runs/a.b` and `.pickle.gz`."""
    match = re.search(r"(\.(?:pickle|pkl|pt))?(\.gz)?$", path)
    return path[: match.start()], match.group() or ".pickle"


def path_of_rank(path, rank, size):
    if "{rank}" in path:
        return path.replace("{rank}", str(rank or 0))
    stem, suffix = split_suffix(path)
    return path if rank is None or size <= 1 else f"{stem}-rank{rank}{suffix}"


def keep_since(snapshot, start_us):
    """Drops the events before `start_us`, as a ring of that length would have; False where events have no time."""
    traces = snapshot.get("device_traces", []) + snapshot.get("host_traces", [])
    if any("time_us" not in event for trace in traces for event in trace[:1]):
        return False
    for trace in traces:
        first = next((i for i, event in enumerate(trace) if event["time_us"] >= start_us), len(trace))
        del trace[:first]
    if "external_annotations" in snapshot:
        snapshot["external_annotations"] = [
            note for note in snapshot["external_annotations"] if note.get("time_us", start_us) >= start_us
        ]
    return True


def write_pickle(snapshot, path):
    """Writes beside `path` first: a program that is killed in between leaves no half file under that name."""
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    part = f"{path}.part{os.getpid()}"
    try:
        with (gzip.open(part, "wb", 6) if path.endswith(".gz") else open(part, "wb")) as file:
            pickle.dump(snapshot, file, protocol=4)
        os.replace(part, path)
    except BaseException:
        if os.path.exists(part):
            os.remove(part)
        raise


def _now_us():
    """The clock of the events' `time_us`: microseconds since 1970."""
    return time.time_ns() // 1000


def _warned(what, action):
    """What `action` returns; None after a warning where it fails. The program that is recorded goes on."""
    try:
        return action()
    except Exception as error:
        _warn(f"could not {what}: {error}")
        return None


def _warn(text):
    # Three levels up from here lies vramscope's own code for most callers: the text says who speaks.
    warnings.warn(f"vramscope.record: {text}", RuntimeWarning, stacklevel=2)
