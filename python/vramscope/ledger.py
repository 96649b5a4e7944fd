"""The memory of the whole card over time, beyond what PyTorch's allocator sees. docs/outside.md says what each figure means.

    ledger = vramscope.ledger()               # starts sampling
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    ledger.write("snapshot.pickle")           # writes snapshot.ledger.json beside it

The program is not affected: nothing is allocated on the GPU, CUDA is not started, and no lock is held while the driver
or PyTorch is asked.
"""

from __future__ import annotations

import atexit
import json
import os
import threading
import time
import weakref

from .attempt import attempt
from .nvml import Card
from .snapshot_file import path_of_rank, rank_and_size, replace_file, split_suffix
from .usable_torch import unwatch_ooms, usable_torch, watch_ooms

VERSION = 1
INTERVAL_S = 1.0
#: Most moments to keep besides the start and OOMs; then every second one goes, and the next come half as often.
MOST_TICKS = 512
MOST_OOMS = 16
#: As src/format/snapshot/read-ledger.ts has it.
MOST_POOLS = 256
#: How often to ask again while memory is allocated between the driver's answers and PyTorch's.
TRIES = 5
#: How often to look whether the program has started CUDA.
START_S = 0.05
#: Bytes for each process, and as many for the card, that the driver needs itself: 9 MB were measured. A process that is
#: not listed has more, because its context alone takes some hundred.
UNLISTED = 64 << 20
#: The first namespace of process ids, in which NVML counts them; containers have others.
FIRST_NAMESPACE = "pid:[4026531836]"

_all = weakref.WeakSet()


def ledger(*, interval=INTERVAL_S):
    """Starts to sample the memory of each card that this process uses, every `interval` seconds, for programs that dump
    by themselves; :func:`vramscope.record` does it on its own. Call `.write(path)` after each dump; `.step()` at the
    end of a step takes a sample there; `.stop()` ends it.
    """
    return Ledger(check_interval(interval) or INTERVAL_S).start(usable_torch())


def check_interval(given):
    """Seconds; 0 for none."""
    seconds = INTERVAL_S if given is True else float(given)
    if not 0 <= seconds < float("inf"):
        raise ValueError("ledger is True, False or a number of seconds")
    return seconds


class Ledger:
    """Samples by device and moment. Nothing in it raises. See :func:`ledger`."""

    def __init__(self, interval_s):
        self._interval_s = interval_s
        self._torch = None
        self._forget()

    def _forget(self):
        """As new. Also in a forked process: it has no GPU, no thread, and perhaps a lock that nobody will release."""
        self._torch = None
        self._thread = None
        self._lock = threading.Lock()
        self._done = threading.Event()
        # Rows of the start and OOMs; and of the other moments, a list for each.
        self._kept, self._ticks = [], []
        self._missing = {}
        self._cards, self._own, self._before = {}, {}, {}
        # Devices whose context has been seen.
        self._seen = set()
        self._counts = {"step": 0, "oom": 0, "dropped": 0}
        # Not 0: the clock may count from the machine's start, an interval ago or less.
        self._latest_s = self._latest_step_s = float("-inf")
        self._devices = range(0)

    def start(self, torch):
        if torch is not None and self._torch is None:
            self._forget()
            self._torch = torch
            _all.add(self)
            try:
                self._start()
            except Exception as error:
                self._missing["samples"] = f"sampling did not start: {error or type(error).__name__}"
        return self

    def stop(self):
        """Ends sampling. What was sampled stays."""
        self._done.set()
        unwatch_ooms(self.oom)
        atexit.unregister(self.stop)
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(1)  # a sample takes less than a millisecond
        self._thread = None

    def step(self):
        """Takes a sample at the end of a step, unless that of another step is recent."""
        self._counts["step"] += 1
        now = time.monotonic()
        if now - self._latest_step_s >= self._interval_s:
            self._latest_step_s = now
            self._tick("step", step=self._counts["step"], may_ask_nccl=True)

    def oom(self, device):
        """Inside PyTorch's observer: NCCL may hold its locks, so it is not asked."""
        self._counts["oom"] += 1
        if self._counts["oom"] <= MOST_OOMS:
            self._kept += self._sample("oom", [device])

    def dump(self, snapshot=None, may_ask_nccl=True):
        """The value of a snapshot's key `memory_ledger`, after a sample at this moment."""
        self._tick("dump", snapshot=snapshot, may_ask_nccl=may_ask_nccl)
        return self._value()

    def write(self, path):
        """Writes `NAME.ledger.json` beside the snapshot at `path`, whose rank is put in as usual. Returns its name, or None."""

        def write():
            stem, _ = split_suffix(path_of_rank(os.fsdecode(path), *rank_and_size(self._torch)))
            value = json.dumps(self.dump()).encode()
            replace_file(f"{stem}.ledger.json", lambda file: file.write(value))
            return f"{stem}.ledger.json"

        return None if self._torch is None else attempt("write the ledger", write)

    def _start(self):
        torch = self._torch
        self._devices = range(torch.cuda.device_count())
        for device in self._devices:
            total = self._find_card(device)
            if self._is_used(device):
                self._seen.add(device)
                self._missing["context"] = "CUDA was already running when the recording began"
                self._kept += self._sample("start", [device])
            elif device in self._cards:
                # Asking CUDA would start it. A process without a context has nothing on the card.
                free = self._cards[device].free()
                row = {**_row("start", device), "free": free, "total": total, "allocated": 0, "reserved": 0, "process": 0}
                found = self._processes(device)
                self._before[device] = set(found)
                self._add_others(row, found, None)
                self._kept.append(row)
        watch_ooms(torch, self.oom)
        self._thread = threading.Thread(target=self._run, name="vramscope ledger", daemon=True)
        self._thread.start()
        atexit.register(self.stop)

    def _find_card(self, device):
        """The card's total bytes. Its properties are read without starting CUDA."""
        properties = self._torch.cuda.get_device_properties(device)
        uuid = getattr(properties, "uuid", None)
        try:
            if uuid is None:
                raise OSError(f"PyTorch {self._torch.__version__} does not say which of NVML's cards this is")
            self._cards[device] = Card(uuid, properties.total_memory)
        except OSError as error:
            self._missing["process"] = str(error)
        return properties.total_memory

    def _is_used(self, device):
        """Whether this process has a context on the device. Asking anything else would make one, which takes half a GB."""
        return self._torch._C._cuda_hasPrimaryContext(device)

    def _run(self):
        while not self._done.wait(self._interval_s if self._seen else min(START_S, self._interval_s)):
            new = [device for device in self._devices if device not in self._seen and self._is_used(device)]
            if new:
                rows = self._sample("init", new)
                self._seen.update(row["device"] for row in rows)  # the others next time
                self._kept += rows
            elif self._seen and time.monotonic() - self._latest_s >= self._interval_s / 2:
                self._tick("interval")

    def _tick(self, moment, **more):
        rows = self._sample(moment, self._devices, **more)
        if not rows:
            return
        with self._lock:
            self._ticks.append(rows)
            if len(self._ticks) > MOST_TICKS:  # of an odd number, the first and the last stay
                self._counts["dropped"] += len(self._ticks) // 2
                self._ticks = self._ticks[::2]
                self._interval_s *= 2
                said = f"to bound their number, {self._counts['dropped']} samples were left out; now one comes every {self._interval_s:g} s"
                self._missing["interval"] = said

    def _sample(self, moment, devices, step=None, snapshot=None, may_ask_nccl=False):
        """Rows of the devices in use."""
        self._latest_s = time.monotonic()
        rows = []
        if self._torch is None:
            return rows
        try:
            for device in devices:
                if self._is_used(device):
                    row = self._read(device, moment)
                    if row is None:
                        continue
                    if step is not None:
                        row["step"] = step
                    if snapshot is not None:
                        self._add_pools(row, snapshot)
                    rows.append(row)
            if rows and may_ask_nccl:
                self._add_communicators(rows)
        except Exception as error:  # from a thread, or many times: the file says it, once
            self._missing["samples"] = f"a sample failed: {error or type(error).__name__}"
        return rows

    def _read(self, device, moment):
        """None if the memory changes all the time and the moment may be another."""
        cuda = self._torch.cuda
        for _ in range(TRIES):
            row = _row(moment, device)
            before = _figures(cuda, device)
            row["free"], row["total"], row["allocated"], row["reserved"] = before
            if device in self._cards:
                found = self._processes(device)
                own = self._own_id(device, moment, found)
                if found.get(own) is not None:
                    row["process"] = found[own]
                    self._add_others(row, found, own)
            if before == _figures(cuda, device):
                if moment == "init" and "process" in row:
                    row["context"] = max(0, row["process"] - row["reserved"])
                return row
        return None if moment in ("init", "interval") else row

    def _processes(self, device):
        try:
            return self._cards[device].processes()
        except OSError as error:
            self._missing["process"] = str(error)
            return {}

    def _own_id(self, device, moment, found):
        """In a container the driver may count this process under another id: the only one that came when its context did."""
        own = self._own.get(device, os.getpid())
        if own not in found:
            new = set(found) - self._before.get(device, set(found))
            if moment == "init" and len(new) == 1:
                own = self._own[device] = new.pop()
            elif "process" not in self._missing:
                self._missing["process"] = "the driver lists no process with this one's id" + _in_container()
        return own

    def _add_others(self, row, found, own):
        """Only if the list is of all processes: a part of it is not their sum."""
        others = [{"pid": pid, "bytes": used} for pid, used in sorted(found.items()) if pid != own]
        used = sum(bytes for bytes in found.values() if bytes is not None)
        if None in found.values() or row["total"] - row["free"] - used > UNLISTED * (len(found) + 1):
            self._missing["others"] = "the driver does not list every process on this card" + _in_container()
        else:
            row["others"] = others

    def _add_pools(self, row, snapshot):
        """The private pools that the snapshot has, of CUDA graphs and MemPools."""
        pools = {}
        for segment in snapshot.get("segments", ()):
            pool = tuple(segment.get("segment_pool_id", (0, 0)))
            if segment.get("device") == row["device"] and pool != (0, 0):
                sums = pools.setdefault(pool, {"pool": list(pool), "reserved": 0, "allocated": 0})
                sums["reserved"] += segment["total_size"]
                sums["allocated"] += segment["allocated_size"]
        if len(pools) <= MOST_POOLS:
            row["pools"] = list(pools.values())
        else:
            self._missing["pools"] = f"there are {len(pools)} private pools"

    def _add_communicators(self, rows):
        """What NCCL says of the groups of torch.distributed. Only in the program's own thread."""
        distributed = getattr(self._torch, "distributed", None)
        if distributed is None or not distributed.is_available() or not distributed.is_initialized():
            return
        groups = dict(distributed.distributed_c10d._world.pg_names)
        current = self._torch.cuda.current_device()
        found = []
        try:
            for group, name in groups.items():
                if "nccl" in str(distributed.get_backend(group)):
                    stats = group._get_backend(self._torch.device("cuda", current)).memory_stats()
                    suspended = stats["suspend"] if stats["suspended"] else 0
                    found.append({"group": _group_name(group, name), "backend": "nccl", "bytes": stats["total"] - suspended})
        except Exception as error:
            reason = str(error).splitlines()[0] if not isinstance(error, AttributeError) and str(error) else _nccl_version(self._torch)
            names = ", ".join(_group_name(group, name) for group, name in groups.items())
            self._missing["communicators"] = f"{reason}; groups of torch.distributed: {names}"
            return
        for row in rows:
            if row["device"] == current:
                row["communicators"] = found

    def _value(self):
        with self._lock:
            rows = self._kept + [row for tick in self._ticks for row in tick]
        used = {row["device"] for row in rows if row["moment"] != "start" or row["reserved"] > 0} | self._seen
        samples = sorted((row for row in rows if row["device"] in used), key=lambda row: row["time_us"])
        # A process that was found later is no longer missing.
        whole = {key for key in ("process", "others") if all(key in row for row in samples)}
        return {"version": VERSION, "samples": samples, "missing": {key: why for key, why in self._missing.items() if key not in whole}}


def _row(moment, device):
    return {"time_us": time.time_ns() // 1000, "device": device, "moment": moment}


def _figures(cuda, device):
    """Bytes free, total, allocated and reserved. Before PyTorch's first allocation it has no figures: there is nothing."""
    stats = cuda.memory_stats_as_nested_dict(device)
    return *cuda.mem_get_info(device), *(stats[key]["all"]["current"] if stats else 0 for key in ("allocated_bytes", "reserved_bytes"))


def _group_name(group, name):
    given = getattr(group, "group_desc", "")
    return given if given not in ("", "undefined") else str(name)


def _nccl_version(torch):
    version = attempt("ask for NCCL's version", lambda: ".".join(map(str, torch.cuda.nccl.version())))
    return f"NCCL {version} in PyTorch {torch.__version__} does not say what a communicator takes (2.29.7 in 2.12 does)"


def _in_container():
    try:
        is_first = os.readlink("/proc/self/ns/pid") == FIRST_NAMESPACE
    except OSError:
        return ""
    return "" if is_first else ", as in containers"


def _forget_parents():
    for each in list(_all):
        each._forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parents)
