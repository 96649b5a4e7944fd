"""Records a PyTorch memory snapshot around a piece of a program.

    with vramscope.record("snapshot.pickle"):
        train()

    @vramscope.record("snapshot.pickle", stacks="all")
    def main(): ...

Nothing here stops the recorded program: anything that cannot be recorded or written becomes a warning, and the
program's exceptions pass through unchanged.
"""

from __future__ import annotations

import inspect
import os
import sys
import threading
import time
from collections import deque

from .attempt import attempt, warn
from .holders import BUDGET_S, check_names, find_holders
from .ledger import Ledger, check_interval
from .recorded_source import recorded_source
from .snapshot_file import path_of_rank, rank_and_size, split_suffix, write_pickle
from .usable_torch import unwatch_ooms, usable_torch, watch_ooms
from .wrap_callable import wrap_callable

MOST_EVENTS = 1_000_000

# PyTorch has one history for the whole process. It runs while any recording does, and stops with the last one, unless
# the program started it. The lock guards this, and who has entered which recording.
_lock = threading.RLock()
_running = []
_history_is_ours = False


class Recording:
    """One recording: a context manager and a decorator that write the file. See :func:`record`."""

    def __init__(self, path, stacks, max_entries, last_steps, on_oom, annotations, pinned, holders, names, ledger, source):
        if stacks not in ("python", "all"):
            raise ValueError('stacks is "python" or "all"')
        if last_steps is not None and last_steps < 1:
            raise ValueError("last_steps is at least 1")
        check_names(names)
        self._path = os.fsdecode(path)
        self._options = {"stacks": stacks, "max_entries": max_entries}
        if annotations:
            self._options["global_record_annotations"] = True
        if pinned:
            self._options["record_pinned_host_memory"] = True
        self._on_oom = on_oom
        # Most seconds to spend on naming what holds the memory.
        self._holders_s = BUDGET_S if holders is True else float(holders)
        self._names = names
        # Seconds between samples of the card's memory.
        self._ledger_s = check_interval(ledger)
        self._ledger = None
        self._has_source = source
        self._oom_was_seen = False
        # Where the last steps end, and where the first of them begins, which is where the file begins.
        self._bounds = None if last_steps is None else deque(maxlen=last_steps + 1)
        self._torch = None
        # One entry for each time it was entered and not left: recursion, threads and tasks overlap.
        self._entries = []
        #: Paths of the written files, in order.
        self.files = []

    def __enter__(self):
        entry = object()
        try:
            with _lock:
                if not self._entries:
                    self._begin()
                self._entries.append(entry)
            return self
        except BaseException:  # Ctrl+C: the block will not run, so nothing else stops the recording
            if entry in self._entries:
                self._entries.remove(entry)
            self._end()
            raise

    def __exit__(self, kind, error, traceback):
        try:
            del self._entries[-1:]  # none is left if the process was forked meanwhile
            if not self._entries:
                self.dump()
        finally:
            try:
                self._end()
            except BaseException:  # Ctrl+C again, or only now
                self._end()
                raise
        return False

    def __call__(self, function):
        """Records each call of `function`; a later call replaces the file of an earlier one.

        Overlapping calls (recursion, threads, unfinished generators) are one recording.
        """
        return wrap_callable(function, self)

    def step(self):
        """Marks the end of a step: with `last_steps=3` the file has the last three, and whatever runs after them."""
        if self._ledger is not None:
            self._ledger.step()
        if self._bounds is not None:
            self._bounds.append(_now_us())

    def dump(self, path=None):
        """Writes what was recorded so far to `path` or the recording's own path; returns the file's name, or None."""
        return self._dump(self._path if path is None else os.fsdecode(path), may_ask_nccl=True)

    def _dump(self, path, may_ask_nccl):
        if self._torch is None:
            return None
        return attempt("write the snapshot", lambda: self._write(path, may_ask_nccl))

    def _begin(self):
        self.files = []
        self._oom_was_seen = False
        self._torch = usable_torch()
        if self._torch is not None and not hasattr(self._torch.cuda.memory, "_record_memory_history"):
            self._torch = warn(f"PyTorch {self._torch.__version__} cannot record memory: nothing is recorded")
        if self._torch is None:
            return
        if self._ledger_s > 0:
            self._ledger = Ledger(self._ledger_s).start(self._torch)
        if self._bounds is not None:
            self._bounds.clear()
            self._bounds.append(_now_us())
        _running.append(self)
        _start_history(self._torch, self._options)
        if self._on_oom:
            # After the ledger's, so that the file has the sample of that moment.
            watch_ooms(self._torch, self._out_of_memory)

    def _end(self):
        """Ends the recording if nobody is in it anymore. Doing so again changes nothing."""
        with _lock:
            if self._entries:
                return
            if self in _running:
                _running.remove(self)
            unwatch_ooms(self._out_of_memory)
            if self._ledger is not None:
                self._ledger.stop()
                self._ledger = None
            if not _running:
                _stop_history(self._torch)
            self._torch = None

    def _write(self, path, may_ask_nccl):
        path = path_of_rank(path, *rank_and_size(self._torch))
        snapshot = self._torch.cuda.memory._snapshot()
        if self._bounds:
            if not keep_since(snapshot, self._bounds[0]):
                warn(f"PyTorch {self._torch.__version__} records no times: the file holds all steps")
        if self._holders_s > 0:
            find = lambda: find_holders(self._torch, sys._getframe(), self._holders_s, self._names, snapshot)
            found = attempt("find the holders", find)
            if found is not None:
                snapshot["holders"] = found
        if self._ledger is not None:
            snapshot["memory_ledger"] = self._ledger.dump(snapshot, may_ask_nccl)
        if self._has_source:
            found = attempt("read the source files", lambda: recorded_source(snapshot, self._torch))
            if found is not None:
                snapshot["source_files"] = found
        write_pickle(snapshot, path)
        self.files.append(path)
        return path

    def _out_of_memory(self, device):
        """Writes what was alive when the request failed. Only the first time: a program may catch many such errors."""
        if self._oom_was_seen or not self._on_oom:
            return
        self._oom_was_seen = True
        stem, suffix = split_suffix(self._path)
        self._dump(f"{stem}.oom{suffix}", may_ask_nccl=False)


def record(
    path="snapshot.pickle", *, stacks="python", max_entries=MOST_EVENTS, last_steps=None, on_oom=True, annotations=False, pinned=False,
    holders=True, names="all", ledger=True, source=False,
):
    """A recording of the GPU memory of this process, as a context manager or a decorator.

    path: the file to write at the end, even if the program fails. With several ranks each writes its own:
        `snapshot.pickle` becomes `snapshot-rank3.pickle`, or put `{rank}` where it belongs. A name that
        ends in `.gz` is compressed.
    stacks: "python", or "all" for C++ frames too: then the dump is many times slower.
    max_entries: events kept; older ones are dropped.
    last_steps: keep only the last N steps; call `.step()` on the recording at the end of each.
    on_oom: when memory runs out for the first time, also write `snapshot.oom.pickle` at that very moment.
    annotations: record the ranges of `torch.profiler.record_function`, if PyTorch can.
    pinned: record pinned host memory too (PyTorch 2.14 and later).
    holders: name the variable that holds each tensor, once the snapshot is taken, within 2 seconds or the number of
        seconds given. False omits this.
    names: "types" leaves dictionary keys out of the names, because they may be data.
    ledger: sample what the whole card holds, every second or the number of seconds given: other processes, NCCL, the
        context. False omits this.
    source: True puts the text of your own files that stand in the stacks into the snapshot, so that it shows the lines
        that ran. Whoever gets the snapshot can read them.

    Start it before the model is built, so that every allocation has its line. Works with PyTorch 2.1 to 2.14;
    without a CUDA or ROCm device it warns and runs the program as usual.
    """
    return Recording(path, stacks, max_entries, last_steps, on_oom, annotations, pinned, holders, names, ledger, source)


def _start_history(torch, options):
    global _history_is_ours
    if _history_is_ours or _history_is_on(torch):
        return
    memory = torch.cuda.memory
    # In some versions the public function takes any keywords and passes them to this one.
    takes = getattr(memory, "_record_memory_history_impl", memory._record_memory_history)
    options, missing = _known_options(takes, options)
    for name in missing:
        warn(f"PyTorch {torch.__version__} does not know {name}: recording without it")
    _history_is_ours = True  # set this before starting: Ctrl+C in between must still stop it
    if attempt("start the recording", lambda: memory._record_memory_history(**options) or True) is None:
        _history_is_ours = False


def _stop_history(torch):
    global _history_is_ours
    if _history_is_ours:
        attempt("stop the recording", lambda: torch.cuda.memory._record_memory_history(enabled=None))
        _history_is_ours = False


def _history_is_on(torch):
    """Whether the program has started PyTorch's history already. PyTorch 2.1 does not say."""
    is_on = getattr(torch._C, "_cuda_isHistoryEnabled", None)
    return is_on is not None and bool(is_on())


def _known_options(function, options):
    """The `options` that `function` takes, and the names of the others."""
    parameters = inspect.signature(function).parameters
    known = {name: value for name, value in options.items() if name in parameters}
    return known, [name for name in options if name not in parameters]


def _forget_parent():
    """A forked process has no GPU: recordings and their files belong to its parent."""
    global _lock, _history_is_ours
    _lock = threading.RLock()  # another thread may have held it
    _history_is_ours = False
    for recording in _running:
        recording._torch = None
        recording._entries.clear()
    _running.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parent)


def keep_since(snapshot, start_us):
    """Drops the events before `start_us`, as a ring buffer of that length would; False if events have no times."""
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


def _now_us():
    """The clock of the events' `time_us`: microseconds since 1970."""
    return time.time_ns() // 1000
