"""`vramscope.record` with a fake PyTorch; fixtures/capture/record_runs.py does the same on a GPU."""

import asyncio
import gzip
import os
import pickle
import sys
import unittest
import warnings
from unittest import mock

import vramscope
from fake_torch import SIGNATURES, fake_torch
from recording_case import RecordingCase
from vramscope.snapshot_file import path_of_rank

class RecordTest(RecordingCase):

    def torch(self, *args, **kwargs):
        torch = fake_torch(*args, **kwargs)
        self.use(mock.patch.dict(sys.modules, {"torch": torch}))
        return torch

    def warned(self, action):
        """The warnings of `action`."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            action()
        return " ".join(str(warning.message) for warning in caught)

    def test_records_a_block_and_stops_after_it(self):
        for version in SIGNATURES:
            with self.subTest(version):
                torch = self.torch(version)
                with vramscope.record(self.path, max_entries=10):
                    self.assertTrue(torch.history_on)
                self.assertFalse(torch.history_on)
                self.assertEqual((torch.calls[0]["stacks"], torch.calls[0]["max_entries"]), ("python", 10))
                self.assertEqual(self.loaded()["device_traces"], [torch.events])

    def test_says_what_this_pytorch_cannot_record(self):
        torch = self.torch("2.1.0")

        def run():
            with vramscope.record(self.path, pinned=True, annotations=True):
                pass

        said = self.warned(run)
        self.assertIn("2.1.0 does not know record_pinned_host_memory", said)
        self.assertIn("global_record_annotations", said)
        self.assertEqual(len(torch.calls), 2)

    def test_asks_a_new_pytorch_for_all_of_it(self):
        torch = self.torch("2.14.0")
        with vramscope.record(self.path, pinned=True, annotations=True, stacks="all"):
            pass
        self.assertTrue(torch.calls[0]["record_pinned_host_memory"] and torch.calls[0]["global_record_annotations"])
        self.assertEqual(torch.calls[0]["stacks"], "all")

    def test_decorates_functions_and_coroutines(self):
        self.torch()

        @vramscope.record(self.path)
        def train(steps):
            "Trains."
            return steps + 1

        self.assertEqual((train(2), train.__name__, train.__doc__), (3, "train", "Trains."))
        self.assertTrue(os.path.exists(self.path))
        os.remove(self.path)

        @vramscope.record(self.path)
        async def serve():
            return 5

        self.assertEqual(asyncio.run(serve()), 5)
        self.assertTrue(os.path.exists(self.path))

    def test_the_exception_of_the_program_passes_through(self):
        self.torch()
        with self.assertRaises(KeyError):
            with vramscope.record(self.path):
                raise KeyError("its own")
        self.assertTrue(os.path.exists(self.path))

    def test_a_file_that_cannot_be_written_is_a_warning(self):
        torch = self.torch()
        nowhere = os.path.join(self.path, "below", "a-file.pickle")
        open(self.path, "w").close()

        def run():
            with self.assertRaises(ZeroDivisionError):
                with vramscope.record(nowhere):
                    1 / 0

        self.assertIn("could not write the snapshot", self.warned(run))
        self.assertFalse(torch.history_on)

    def test_writes_a_file_when_memory_runs_out_and_one_only(self):
        torch = self.torch()
        with vramscope.record(self.path) as recording:
            for _ in range(3):
                torch.observers[0](0, 1, 2, 3)
        self.assertEqual([os.path.basename(file) for file in recording.files], ["snapshot.oom.pickle", "snapshot.pickle"])
        with vramscope.record(self.path, on_oom=False) as recording:
            torch.observers[0](0, 1, 2, 3)
        self.assertEqual((len(recording.files), len(torch.observers)), (1, 1))
        torch.observers[0](0, 1, 2, 3)  # after the recordings: nothing

    def test_keeps_the_last_steps(self):
        torch = self.torch()
        clock = mock.Mock(side_effect=[100, 200, 300, 400])
        torch.events = [{"action": "alloc", "time_us": time} for time in (50, 150, 250, 350, 450)]
        with mock.patch.dict(vramscope.record.__globals__, {"_now_us": clock}):
            with vramscope.record(self.path, last_steps=2) as recording:
                for _ in range(3):
                    recording.step()
        self.assertEqual([event["time_us"] for event in self.loaded()["device_traces"][0]], [250, 350, 450])

    def test_events_without_times_are_all_kept(self):
        torch = self.torch("2.1.0")
        torch.events = [{"action": "alloc"}]

        def run():
            with vramscope.record(self.path, last_steps=1) as recording:
                recording.step()

        self.assertIn("records no times", self.warned(run))
        self.assertEqual(len(self.loaded()["device_traces"][0]), 1)

    def test_leaves_a_history_that_the_program_has_started(self):
        torch = self.torch()
        torch.is_started = torch.history_on = True
        with vramscope.record(self.path):
            pass
        self.assertTrue(torch.history_on)
        self.assertEqual(torch.calls, [])

    def test_an_inner_recording_does_not_stop_the_outer_one(self):
        torch = self.torch()
        with vramscope.record(self.path):
            with vramscope.record(os.path.join(self.folder, "inner.pickle")):
                pass
            self.assertTrue(torch.history_on)
        self.assertFalse(torch.history_on)

    def test_each_rank_writes_its_own_file(self):
        self.torch()
        with mock.patch.dict(os.environ, {"RANK": "3", "WORLD_SIZE": "8"}):
            with vramscope.record(self.path + ".gz") as recording:
                pass
        (file,) = recording.files
        self.assertEqual(os.path.basename(file), "snapshot-rank3.pickle.gz")
        with gzip.open(file) as packed:
            self.assertIn("segments", pickle.load(packed))
        self.assertEqual(path_of_rank("a/{rank}/b.pickle", 2, 4), "a/2/b.pickle")
        self.assertEqual(path_of_rank("a/b.pickle", 0, 1), "a/b.pickle")
        self.assertEqual(path_of_rank("a.b/c", 1, 2), "a.b/c-rank1.pickle")

    def test_without_a_gpu_or_pytorch_the_program_runs_as_it_is(self):
        ran = []

        def run():
            with vramscope.record(self.path):
                ran.append(True)

        self.torch(has_gpu=False)
        self.assertIn("no CUDA device", self.warned(run))
        with mock.patch.dict(sys.modules, {"torch": None}):
            self.assertIn("PyTorch is not installed", self.warned(run))
        self.assertEqual((len(ran), os.listdir(self.folder)), (2, []))

    def test_wrong_options_are_said_before_the_program_runs(self):
        for options in ({"stacks": "cpp"}, {"last_steps": 0}):
            with self.assertRaises(ValueError):
                vramscope.record(self.path, **options)


if __name__ == "__main__":
    unittest.main()
