"""Makes a big snapshot from a small real one, by repeating a steady window of its events.

    python bench/make_snapshot.py fixtures/train_gpt_small.pickle.gz out.pickle 5700000 [cpp]

A window is steady if every segment and block is the same before and after it. Its events can then be repeated any number
of times without contradictions in a replay. `cpp` writes like PyTorch's C++ pickler; otherwise CPython pickles the file.
Needs about 600 bytes of memory an event.
"""

import gzip
import pickle
import shutil
import struct
import sys
from pathlib import Path

# What an event does to the state: which sets a block or segment leaves and enters.
CHANGES = {
    "alloc": (("block", 1),),
    "free_requested": (("block", -1), ("pending", 1)),
    "free_completed": (("pending", -1),),
    "segment_alloc": (("segment", 1),),
    "segment_map": (("segment", 1),),
    "segment_free": (("segment", -1),),
    "segment_unmap": (("segment", -1),),
}


def steady_window(events):
    """The longest [from, to) that leaves the state unchanged; states count as equal if their sums of hashes are equal."""
    first_seen, state, best = {0: 0}, 0, (0, 0)
    for index, event in enumerate(events):
        for thing, sign in CHANGES.get(event["action"], ()):
            state += sign * hash((thing, event.get("addr"), event["size"]))
        start = first_seen.setdefault(state, index + 1)
        best = max(best, (start, index + 1), key=lambda window: window[1] - window[0])
    if best[1] == 0:
        raise SystemExit("No state of the allocator comes twice in this trace")
    return best


def copied(value):
    """A copy with its own identity, as in a longer recording."""
    if isinstance(value, str):
        return value.encode().decode() if len(value) > 1 else value
    return value.__class__(list(value)) if isinstance(value, (tuple, list)) else value


def repeated(items, before, window, after, period_us, repetitions, is_own):
    """Repeats `window` between `before` and `after`, in new dictionaries with later times."""
    result = list(before)
    for turn in range(1, repetitions):
        copies = {}

        def own(value):
            if not is_own(value):
                return value
            return copies.setdefault(id(value), copied(value)) if isinstance(value, list) else copied(value)

        for item in window:
            later = {key: own(value) for key, value in item.items()}
            later["time_us"] = item["time_us"] + turn * period_us
            result.append(later)
    for item in after:
        result.append({**item, "time_us": item["time_us"] + (repetitions - 1) * period_us})
    items[:] = result


def lengthen(snapshot, count):
    """Extends the single trace in place to at least `count` events, by whole repetitions."""
    (events,) = (trace for trace in snapshot["device_traces"])
    start, end = steady_window(events)
    repetitions = 1 + max(0, -(-(count - len(events)) // (end - start)))
    start_us = events[start]["time_us"]
    end_us = events[end]["time_us"] if end < len(events) else events[-1]["time_us"] + 1
    uses = {}
    for event in events:
        for value in event.values():
            uses[id(value)] = uses.get(id(value), 0) + 1
    # The window shares frame lists with what comes before it; lists first used in it would be new in each repetition.
    known = {id(event.get("frames")) for event in events[:start]}
    for segment in snapshot["segments"]:
        known.update(id(owner.get("frames")) for owner in (segment, *segment["blocks"]))

    def is_own(value):
        return id(value) not in known if isinstance(value, list) else uses.get(id(value)) == 1

    period = end_us - start_us
    repeated(events, events[:end], events[start:end], events[end:], period, repetitions, is_own)
    notes = snapshot.get("external_annotations")
    if notes:
        parts = (
            [note for note in notes if low <= note["time_us"] < high]
            for low, high in ((0, end_us), (start_us, end_us), (end_us, float("inf")))
        )
        repeated(notes, *parts, period, repetitions, lambda value: isinstance(value, str))


class CppPickler:
    """Writes like `_memory_snapshot_pickled`: protocol 2, strings memoized by content, lists and dictionaries memoized if
    they occur several times, integers beyond 32 bits in 8 bytes, one mark and APPENDS per list of any length."""

    def __init__(self, file, shared):
        self.write, self.shared, self.memo = file.write, shared, {}

    def dump(self, value):
        self.write(b"\x80\x02")
        self.save(value)
        self.write(b".")

    def save(self, value):
        key = value if isinstance(value, str) else id(value)
        if value is None or isinstance(value, bool):
            self.write({None: b"N", True: b"\x88", False: b"\x89"}[value])
        elif isinstance(value, int):
            self.write(self.integer(value))
        elif isinstance(value, float):
            self.write(struct.pack(">cd", b"G", value))
        elif key in self.memo:
            self.write(self.indexed(b"h", b"j", self.memo[key]))
        else:
            self.save_object(value)
            if isinstance(value, str) or key in self.shared:
                self.memo[key] = len(self.memo)
                self.write(self.indexed(b"q", b"r", self.memo[key]))

    def save_object(self, value):
        if isinstance(value, str):
            text = value.encode()
            self.write(struct.pack("<cI", b"X", len(text)) + text)
            return
        is_dict = isinstance(value, dict)
        self.write(b"" if isinstance(value, tuple) else b"}(" if is_dict else b"](")
        for part in [part for pair in value.items() for part in pair] if is_dict else value:
            self.save(part)
        self.write(b"\x86" if isinstance(value, tuple) else b"u" if is_dict else b"e")

    def integer(self, value):
        for code, layout, low, high in (("K", "B", 0, 1 << 8), ("M", "H", 0, 1 << 16), ("J", "i", -(1 << 31), 1 << 31)):
            if low <= value < high:
                return struct.pack(f"<c{layout}", code.encode(), value)
        return b"\x8a\x08" + struct.pack("<Q", value & 0xFFFFFFFFFFFFFFFF)

    def indexed(self, short, long, index):
        return struct.pack("<cB", short, index) if index < 256 else struct.pack("<cI", long, index)


def shared_objects(value, seen, shared):
    """The ids of lists and dictionaries that occur several times inside `value`."""
    if not isinstance(value, (list, dict, tuple)):
        return shared
    if id(value) in seen:
        shared.add(id(value))
        return shared
    seen.add(id(value))
    for part in value.values() if isinstance(value, dict) else value:
        shared_objects(part, seen, shared)
    return shared


def main(source, target, count, pickler="python"):
    raw = Path(source).read_bytes()
    snapshot = pickle.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    lengthen(snapshot, int(count))
    needed = len(snapshot["device_traces"][0]) * 250
    if shutil.disk_usage(Path(target).parent).free < needed:
        raise SystemExit(f"{target}: needs {needed} bytes of disk")
    with open(target, "wb") as file:
        if pickler == "cpp":
            CppPickler(file, shared_objects(snapshot, set(), set())).dump(snapshot)
        else:
            pickle.dump(snapshot, file, protocol=4)


main(*sys.argv[1:])
