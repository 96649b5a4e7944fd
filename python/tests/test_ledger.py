"""The memory ledger with a fake PyTorch and a fake driver; fixtures/capture/ledger.py does the same on a GPU."""

import json
import os
import pickle
import subprocess
import sys
import threading
import time
import types
import unittest
from unittest import mock

import vramscope
from fake_torch import fake_torch
from recording_case import RecordingCase
from vramscope import usable_torch

GB = 1 << 30
CONTEXT = 512 << 20
PID = os.getpid()
module = sys.modules["vramscope.ledger"]  # the package's attribute of this name is the function


class Driver:
    """What NVML says: the processes on each card."""

    def __init__(self, torch):
        self.torch, self.processes, self.reason = torch, {}, None

    def card(self, uuid, total):
        if self.reason is not None:
            raise OSError(self.reason)
        return types.SimpleNamespace(free=lambda: self.torch.card.total - self.torch.card.used, processes=lambda: dict(self.processes))


class LedgerTest(RecordingCase):
    def setUp(self):
        super().setUp()
        self.torch = fake_torch()
        self.driver = Driver(self.torch)
        self.use(mock.patch.dict(sys.modules, {"torch": self.torch}))
        self.use(mock.patch.object(module, "Card", self.driver.card))
        self.warned = self.keep_warnings()

    def allocate(self, reserved, allocated=None):
        """What the program allocates; the first time starts CUDA."""
        card = self.torch.card
        card.reserved, card.allocated = reserved, reserved if allocated is None else allocated
        card.contexts.add(0)
        self.count(CONTEXT + reserved)

    def count(self, own, **others):
        """How the driver counts the processes: `p7=GB` is the one with the id 7."""
        self.driver.processes = {PID: own, **{int(name[1:]): nbytes for name, nbytes in others.items()}}
        self.torch.card.used = sum(nbytes for nbytes in self.driver.processes.values())

    def ledger(self, name="snapshot.pickle"):
        return self.loaded(name)["memory_ledger"]

    def until(self, is_so):
        end = time.monotonic() + 5
        while not is_so():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.002)

    def samples(self, recording):
        return recording._ledger._value()["samples"]

    def test_follows_a_program_from_before_cuda_to_the_dump(self):
        self.driver.processes, self.torch.card.used = {7: 3 * GB}, 3 * GB
        with vramscope.record(self.path, ledger=0.01) as recording:
            time.sleep(0.03)
            self.assertEqual(self.torch.card.contexts, set())
            self.allocate(0)
            self.count(CONTEXT, p7=3 * GB)
            self.until(lambda: any(row["moment"] == "init" for row in self.samples(recording)))
            self.allocate(2 * GB, GB)
            self.count(CONTEXT + 2 * GB, p7=3 * GB, p9=GB)
            count = len(self.samples(recording))
            self.until(lambda: len(self.samples(recording)) > count + 2)
            time.sleep(0.02)
            recording.step()
        found = self.ledger()
        first, init, *_, last = found["samples"]
        others = [{"pid": 7, "bytes": 3 * GB}]
        pools = last.pop("pools")
        for row in found["samples"]:
            self.assertLess(abs(row.pop("time_us") / 1e6 - time.time()), 60)
        card = {"device": 0, "total": 140 * GB}
        self.assertEqual(first, {**card, "moment": "start", "free": 137 * GB, "allocated": 0, "reserved": 0, "process": 0, "others": others})
        began = {**card, "free": 137 * GB - CONTEXT, "allocated": 0, "reserved": 0, "process": CONTEXT, "others": others}
        self.assertEqual(init, {**began, "moment": "init", "context": CONTEXT})
        ended = {**card, "free": 134 * GB - CONTEXT, "allocated": GB, "reserved": 2 * GB, "process": CONTEXT + 2 * GB}
        self.assertEqual(last, {**ended, "moment": "dump", "others": [*others, {"pid": 9, "bytes": GB}]})
        self.assertEqual((found["version"], found["missing"], pools), (1, {}, []))
        self.assertIn("interval", [row["moment"] for row in found["samples"]])
        self.assertEqual(self.warned, [])

    def test_starts_no_cuda_and_keeps_nothing_of_unused_devices(self):
        self.torch.card.devices = 8
        with vramscope.record(self.path, ledger=0.001):
            time.sleep(0.05)
        self.assertEqual((self.torch.card.contexts, self.ledger()), (set(), {"version": 1, "samples": [], "missing": {}}))
        with vramscope.record(self.path, ledger=0.001) as recording:
            self.allocate(GB)
            self.until(lambda: self.samples(recording))
        self.assertEqual({row["device"] for row in self.ledger()["samples"]}, {0})

    def test_a_context_that_was_there_has_an_unknown_size(self):
        self.allocate(GB)
        with vramscope.record(self.path):
            pass
        found = self.ledger()
        self.assertEqual([row["moment"] for row in found["samples"]], ["start", "dump"])
        self.assertFalse(any("context" in row for row in found["samples"]))
        self.assertIn("already running", found["missing"]["context"])

    def test_without_nvml_it_says_so(self):
        self.driver.reason = "NVIDIA's libnvidia-ml.so.1 is not there"
        with vramscope.record(self.path, ledger=0.001) as recording:
            self.allocate(GB)
            self.until(lambda: len(self.samples(recording)) > 1)
        found = self.ledger()
        self.assertEqual(found["missing"], {"process": self.driver.reason})
        self.assertEqual({key for row in found["samples"] for key in row} & {"process", "others", "context"}, set())
        self.assertEqual(found["samples"][-1]["free"], 139 * GB - CONTEXT)

    def test_a_process_that_is_not_listed_makes_the_others_unknown(self):
        self.allocate(GB)
        self.torch.card.used += CONTEXT // 2
        with vramscope.record(self.path):
            pass
        found = self.ledger()
        self.assertEqual(found["samples"][-1]["process"], CONTEXT + GB)
        self.assertNotIn("others", found["samples"][-1])
        self.assertIn("does not list every process", found["missing"]["others"])
        self.count(CONTEXT + GB, p7=0)
        self.driver.processes[7] = None
        with vramscope.record(self.path):
            pass
        self.assertNotIn("others", self.ledger()["samples"][-1])

    def test_in_a_container_this_process_is_the_one_that_came_with_its_context(self):
        self.driver.processes = {7: GB}
        for come, is_known in (({31: CONTEXT + GB}, True), ({31: CONTEXT + GB, 32: GB}, False)):
            self.torch.card.contexts.clear()
            self.driver.processes, self.torch.card.used = {7: GB}, GB
            with vramscope.record(self.path, ledger=0.001) as recording:
                self.torch.card.contexts.add(0)
                self.torch.card.reserved = self.torch.card.allocated = GB
                self.driver.processes = {7: GB, **come}
                self.torch.card.used = sum(self.driver.processes.values())
                self.until(lambda: len(self.samples(recording)) > 3)
            found = self.ledger()
            last = found["samples"][-1]
            self.assertEqual(last.get("process"), CONTEXT + GB if is_known else None)
            self.assertEqual(last.get("others"), [{"pid": 7, "bytes": GB}] if is_known else None)
            self.assertEqual("process" in found["missing"], not is_known)

    def test_out_of_memory_asks_nccl_nothing(self):
        self.allocate(GB)
        asked = self.groups({"0": {"total": 5, "suspend": 0, "suspended": 0}})
        with vramscope.record(self.path, ledger=3600) as recording:
            for _ in range(40):
                self.torch.observers[0](0, 1, 2, 3)
            self.assertEqual(asked, [])
        self.assertEqual([row["moment"] for row in self.ledger("snapshot.oom.pickle")["samples"]], ["start", "oom", "dump"])
        moments = [row["moment"] for row in self.ledger()["samples"]]
        self.assertEqual((moments.count("oom"), moments[-1]), (module.MOST_OOMS, "dump"))
        self.assertEqual(asked, ["0"])
        self.torch.observers[0](0, 1, 2, 3)  # after the recording: nothing
        self.assertEqual(len(recording.files), 2)

    def groups(self, stats, names=None):
        """Process groups of torch.distributed; returns what was asked."""
        asked = []

        class Group:
            def __init__(self, name):
                self.name, self.group_desc = name, (names or {}).get(name, "undefined")

            def _get_backend(self, device):
                return self

            def memory_stats(self):
                asked.append(self.name)
                if isinstance(stats[self.name], Exception):
                    raise stats[self.name]
                return stats[self.name]

        groups = {Group(name): name for name in stats}
        self.torch.device = lambda *words: words
        self.torch.distributed = types.SimpleNamespace(
            is_available=lambda: True, is_initialized=lambda: True, get_rank=lambda: 0, get_world_size=lambda: 1,
            get_backend=lambda group: "gloo" if group.name == "cpu" else "nccl",
            distributed_c10d=types.SimpleNamespace(_world=types.SimpleNamespace(pg_names=groups)),
        )
        return asked

    def test_communicators_as_nccl_counts_them(self):
        self.allocate(GB)
        stats = {"0": {"total": 900, "suspend": 800, "suspended": 0}, "1": {"total": 900, "suspend": 800, "suspended": 1}, "cpu": None}
        self.groups(stats, {"1": "mesh_tp"})
        with vramscope.record(self.path):
            pass
        expected = [{"group": "0", "backend": "nccl", "bytes": 900}, {"group": "mesh_tp", "backend": "nccl", "bytes": 100}]
        self.assertEqual(self.ledger()["samples"][-1]["communicators"], expected)

    def test_says_why_communicators_are_unknown(self):
        self.allocate(GB)
        for error, reason in ((AttributeError("no"), "NCCL 2.28.9 in PyTorch 2.14.0 does not say"), (RuntimeError("too old\nat x"), "too old;")):
            self.groups({"0": error, "1": error}, {"0": "default_pg"})
            with vramscope.record(self.path):
                pass
            found = self.ledger()
            self.assertNotIn("communicators", found["samples"][-1])
            self.assertIn(reason, found["missing"]["communicators"])
            self.assertIn("default_pg, 1", found["missing"]["communicators"])

    def test_private_pools_of_the_dump(self):
        self.allocate(4 * GB)
        segment = {"device": 0, "total_size": GB, "allocated_size": 512}
        segments = [
            {**segment, "segment_pool_id": (0, 0)}, {**segment, "segment_pool_id": (0, 1)}, {**segment, "segment_pool_id": (0, 1)},
            {**segment, "segment_pool_id": (2, 0), "device": 1}, segment,
        ]
        self.torch.cuda.memory._snapshot = lambda: {"segments": segments, "device_traces": [[]]}
        with vramscope.record(self.path, holders=False):
            pass
        self.assertEqual(self.ledger()["samples"][-1]["pools"], [{"pool": [0, 1], "reserved": 2 * GB, "allocated": 1024}])

    def test_a_sample_that_the_program_changes_meanwhile_is_not_taken(self):
        self.allocate(GB)
        grown = iter(range(10**9))
        self.torch.cuda.mem_get_info = lambda device: (100 * GB - next(grown), 140 * GB)
        with vramscope.record(self.path, ledger=0.001):
            time.sleep(0.05)
        self.assertEqual([row["moment"] for row in self.ledger()["samples"]], ["start", "dump"])

    def test_keeps_a_bounded_number_of_samples_evenly(self):
        self.allocate(GB)
        hours = 5 * module.MOST_TICKS
        clock = mock.Mock(return_value=0)
        with mock.patch.object(module.time, "time_ns", clock):
            ledger = vramscope.ledger(interval=3600)
            self.addCleanup(ledger.stop)
            latest = 0
            for hour in range(1, hours + 1):
                clock.return_value = 1000 * hour
                if hour - latest >= ledger._interval_s / 3600:
                    latest = hour
                    ledger._tick("interval")
                    self.assertLessEqual(len(ledger._ticks), module.MOST_TICKS)
            found = ledger.dump()
        times = [row["time_us"] for row in found["samples"]]
        self.assertEqual((times[:2], times[-1]), ([0, 1], hours))
        self.assertLessEqual(max(b - a for a, b in zip(times, times[1:])), 8)
        self.assertGreater(len(times), module.MOST_TICKS / 2)
        self.assertIn("every 28800 s", found["missing"]["interval"])

    def test_steps_are_sampled_no_more_often_than_the_interval(self):
        self.allocate(GB)
        with mock.patch("time.monotonic") as clock:
            clock.return_value = 1  # as on a machine that has just started
            ledger = vramscope.ledger(interval=3600)
            self.addCleanup(ledger.stop)
            for _ in range(100):
                ledger.step()
            clock.return_value += 3600
            ledger.step()
            found = ledger.dump()
        self.assertEqual([row.get("step") for row in found["samples"]], [None, 1, 101, None])

    def test_whatever_fails_is_said_in_the_file_only(self):
        self.allocate(GB)
        for name in ("mem_get_info", "memory_stats_as_nested_dict", "device_count", "get_device_properties"):
            def fail(*words):
                raise RuntimeError(f"{name} failed")

            with mock.patch.object(self.torch.cuda, name, fail):
                with vramscope.record(self.path, ledger=0.001) as recording:
                    recording.step()
                    time.sleep(0.01)
            self.assertIn(f"{name} failed", self.ledger()["missing"]["samples"])
        self.assertEqual(self.warned, [])

    def test_threads_end_with_their_recordings(self):
        def running():
            return [thread for thread in threading.enumerate() if thread.name == "vramscope ledger"]

        with vramscope.record(self.path) as outer:
            with vramscope.record(self.path):
                self.assertEqual(len(running()), 2)
            self.assertEqual(len(running()), 1)
            self.assertIsNotNone(outer._ledger)
        self.assertEqual((running(), usable_torch._watchers), ([], []))
        for off in (False, 0):
            with vramscope.record(self.path, ledger=off):
                self.assertEqual(running(), [])
            with open(self.path, "rb") as file:
                self.assertNotIn("memory_ledger", pickle.load(file))
        for wrong in (-1, float("nan"), float("inf"), "often"):
            with self.assertRaises(ValueError):
                vramscope.record(self.path, ledger=wrong)

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_a_forked_process_has_no_ledger(self):
        self.allocate(GB)
        with vramscope.record(self.path, ledger=0.001) as recording:
            ledger = recording._ledger
            with ledger._lock:  # as if the thread held it
                child = os.fork()
            if child == 0:
                try:
                    ledger.step()
                    isolated = ledger._torch is None and ledger._value()["samples"] == [] and ledger._lock.acquire(timeout=1)
                    os._exit(0 if isolated and ledger.write(self.path) is None else 3)
                finally:
                    os._exit(4)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
            self.until(lambda: len(ledger._ticks) > 3)

    def test_a_program_that_ends_within_its_recording_ends(self):
        tests = os.path.dirname(os.path.abspath(__file__))
        code = f"""if True:
            import sys
            sys.path[:0] = [{tests!r}, {os.path.dirname(tests)!r}]
            from fake_torch import fake_torch
            torch = sys.modules["torch"] = fake_torch()
            torch.card.contexts.add(0)
            import vramscope
            vramscope.record({self.path!r}, ledger=0.0001).__enter__()
        """
        ended = subprocess.run([sys.executable, "-c", code], timeout=20, capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))

    def test_writes_beside_a_snapshot_for_programs_that_dump_by_themselves(self):
        self.allocate(GB)
        ledger = vramscope.ledger(interval=0.001)
        self.until(lambda: len(ledger._ticks) > 2)
        written = ledger.write(f"{self.path}.gz")
        self.assertEqual(os.path.basename(written), "snapshot.ledger.json")
        with open(written) as file:
            found = json.load(file)
        self.assertEqual((found["version"], found["samples"][0]["moment"], found["samples"][-1]["moment"]), (1, "start", "dump"))
        with mock.patch.dict(os.environ, {"RANK": "3", "WORLD_SIZE": "4"}):
            self.assertEqual(os.path.basename(ledger.write(self.path)), "snapshot-rank3.ledger.json")
        self.assertEqual(self.warned, [])
        self.assertIsNone(ledger.write(os.path.join(written, "below", "x.pickle")))
        self.assertIn("could not write the ledger", str(self.warned[-1].message))
        ledger.stop()
        ledger.stop()

    def test_without_a_gpu_it_warns_once_and_does_nothing(self):
        self.torch.cuda.is_available = lambda: False
        ledger = vramscope.ledger()
        ledger.step()
        self.assertIsNone(ledger.write(self.path))
        ledger.stop()
        self.assertEqual(len(self.warned), 1)


if __name__ == "__main__":
    unittest.main()
