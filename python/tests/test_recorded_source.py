"""`vramscope.record(source=True)`: which files are in the snapshot, and what is said of the others."""

import hashlib
import linecache
import os
import sys
import sysconfig
import unittest
from unittest import mock

import vramscope
from fake_torch import fake_torch
from recording_case import RecordingCase
from vramscope import recorded_source


class RecordedSourceTest(RecordingCase):
    def setUp(self):
        super().setUp()
        self.torch = fake_torch()
        self.use(mock.patch.dict(sys.modules, {"torch": self.torch}))
        self.use(mock.patch.object(recorded_source, "_started_s", os.stat(self.folder).st_mtime + 100))
        self.warned = self.keep_warnings()

    def write(self, name, content):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def stack(self, *filenames):
        self.torch.events.append({
            "action": "alloc", "time_us": 0, "addr": 1, "size": 512,
            "frames": [{"name": "f", "filename": name, "line": 1} for name in filenames],
        })

    def record(self, **options):
        with vramscope.record(self.path, source=True, **options):
            pass
        return self.written()

    def written(self, name="snapshot.pickle"):
        return self.loaded(name).get("source_files")

    def texts(self):
        return {row["filename"]: row["text"] for row in self.record()["files"]}

    def said(self):
        return " ".join(str(warning.message) for warning in self.warned)

    def test_holds_the_users_files_and_no_others(self):
        train, model = self.write("train.py", b"train()\n"), self.write("run/model.py", b"# model\n")
        others = [
            self.write("lib/site-packages/pack/a.py", b"installed"),
            self.write("torchinductor_me/ab/cabc.py", b"generated"),
            self.write("kernel.cpp", b"native"),
            os.path.join(sysconfig.get_path("stdlib"), "threading.py"),
            os.path.abspath(recorded_source.__file__),
            "<eval_with_key>.3", "??", "",
        ]
        self.torch.__file__ = self.write("src/torch/__init__.py", b"")
        self.stack(self.write("src/torch/nn/modules/module.py", b"torch"), train, *others)
        self.stack(model, train)
        self.assertEqual(self.texts(), {train: "train()\n", model: "# model\n"})
        self.assertEqual(self.written()["missing"], {})
        self.assertEqual(self.warned, [])

    def test_is_off_unless_asked_for(self):
        self.stack(self.write("train.py", b"secret()"))
        with vramscope.record(self.path):
            pass
        self.assertIsNone(self.written())
        with open(self.path, "rb") as file:
            self.assertNotIn(b"secret", file.read())

    def test_each_has_the_hash_of_its_bytes(self):
        content = "# -*- coding: latin-1 -*-\r\n# caf\xe9\r\n".encode("latin-1")
        path = self.write("old.py", content)
        self.stack(path)
        self.assertEqual(self.record()["files"], [{
            "filename": path, "sha256": hashlib.sha256(content).hexdigest(), "text": "# -*- coding: latin-1 -*-\n# caf\xe9\n",
        }])

    def test_blocks_and_segments_have_stacks_too(self):
        first, second = self.write("a.py", b"a"), self.write("b.py", b"b")
        frames = lambda name: [{"name": "f", "filename": name, "line": 1}]
        self.torch.cuda.memory._snapshot = lambda: {
            "segments": [{"frames": frames(first), "blocks": [{"frames": frames(second)}, {}]}], "device_traces": [[]],
        }
        self.assertEqual(self.texts(), {first: "a", second: "b"})

    def test_cells_and_typed_code_come_from_what_python_keeps(self):
        cell, typed = "/tmp/ipykernel_77/1234567.py", "<ipython-input-3-0a1b>"
        for name in (cell, typed):
            linecache.cache[name] = (9, None, ["x = 1\n", "y = x\n"], name)
            self.addCleanup(linecache.cache.pop, name, None)
        self.stack(cell, typed, "<stdin>")
        self.assertEqual(self.texts(), {cell: "x = 1\ny = x\n", typed: "x = 1\ny = x\n"})
        self.assertEqual(list(self.written()["missing"]), ["<stdin>"])

    def test_says_if_a_file_was_changed_while_the_program_ran(self):
        path = self.write("train.py", b"train()")
        later = recorded_source._started_s + 1
        os.utime(path, (later, later))
        self.stack(path)
        self.assertIs(self.record()["files"][0]["changed"], True)

    def test_a_file_that_cannot_be_read_is_named(self):
        gone, broken = os.path.join(self.folder, "gone.py"), self.write("broken.py", b"\xff\xfe\x00")
        folder, fine = os.path.join(self.folder, "folder.py"), self.write("fine.py", b"fine")
        os.mkdir(folder)
        self.stack(gone, broken, folder, fine)
        self.assertEqual(list(self.texts()), [fine])
        missing = self.written()["missing"]
        self.assertEqual(sorted(missing), sorted([gone, broken, folder]))
        self.assertIn("No such file", missing[gone])
        self.assertEqual(self.warned, [])

    @unittest.skipUnless(hasattr(os, "mkfifo"), "needs pipes")
    def test_waits_for_no_pipe(self):
        pipe = os.path.join(self.folder, "pipe.py")
        os.mkfifo(pipe)
        self.stack(pipe)
        self.record()
        self.assertEqual(self.written()["missing"], {pipe: "not a regular file"})

    def test_limits_are_said(self):
        small, large = self.write("small.py", b"# 1\n"), self.write("large.py", b"#" * (recorded_source.MOST_BYTES + 1))
        self.stack(large, small)
        self.assertEqual(list(self.texts()), [small])
        self.assertEqual(self.written()["missing"], {large: "it is larger than 1 MiB"})
        self.assertIn("large.py: it is larger than 1 MiB", self.said())

    def test_the_smallest_come_first_when_there_are_too_many(self):
        self.use(mock.patch.object(recorded_source, "MOST_BYTES_IN_ALL", 10))
        paths = [self.write(f"{name}.py", b"#" * size) for name, size in (("a", 6), ("b", 2), ("c", 5))]
        self.stack(*paths)
        self.assertEqual(list(self.texts()), [paths[1], paths[2]])
        self.assertIn("a.py", self.said())

    def test_the_file_of_an_oom_has_them_too(self):
        path = self.write("train.py", b"train()")
        self.stack(path)
        with vramscope.record(self.path, source=True):
            self.torch.observers[0](0, 1, 2, 3)
            self.assertEqual(self.written("snapshot.oom.pickle")["files"][0]["text"], "train()")

    def test_a_failure_is_a_warning_and_the_snapshot_is_written(self):
        self.torch.events.append({"action": "alloc", "frames": [None]})
        self.assertIsNone(self.record())
        self.assertIn("could not read the source files", self.said())


if __name__ == "__main__":
    unittest.main()
