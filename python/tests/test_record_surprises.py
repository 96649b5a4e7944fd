"""`vramscope.record` when a program, its threads, its user or its disk do unexpected things."""

import asyncio
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from unittest import mock

import vramscope
from vramscope import usable_torch
from fake_torch import fake_torch
from vramscope.attempt import attempt, warn
from vramscope.snapshot_file import rank_and_size, replace_file

IS_POSIX = os.name == "posix"


class SurpriseTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "snapshot.pickle")
        usable_torch._is_attached = False
        self.torch = fake_torch()
        patch = mock.patch.dict(sys.modules, {"torch": self.torch})
        patch.start()
        self.addCleanup(patch.stop)

    def tearDown(self):
        self.assertFalse(self.torch.history_on, "history was left on")
        self.assertEqual(vramscope.record.__globals__["_running"], [])
        self.assertEqual([name for name in os.listdir(self.folder) if name.endswith(".part")], [])

    def starts(self):
        return [call["enabled"] for call in self.torch.calls]

    # The file

    @unittest.skipUnless(IS_POSIX, "needs FIFOs")
    def test_neither_a_pipe_nor_a_device_is_replaced(self):
        os.mkfifo(self.path)
        os.symlink("/dev/null", self.path + ".null")
        os.symlink("/proc/self/fd/1", self.path + ".stdout")
        for path in (self.path, self.path + ".null", "/dev/null", self.path + ".stdout", self.folder):
            before = os.lstat(path)
            with self.assertWarnsRegex(RuntimeWarning, "not a regular file"):
                with vramscope.record(path) as recording:
                    pass
            self.assertEqual(recording.files, [])
            self.assertEqual((os.lstat(path).st_ino, os.lstat(path).st_mode), (before.st_ino, before.st_mode))

    @unittest.skipUnless(IS_POSIX, "needs links")
    def test_a_planted_link_is_not_followed(self):
        theirs = os.path.join(self.folder, "theirs")
        with open(theirs, "w") as file:
            file.write("precious")
        os.symlink(theirs, self.path)
        os.symlink(theirs, f"{self.path}.part{os.getpid()}")
        with vramscope.record(self.path):
            pass
        with open(theirs) as file:
            self.assertEqual(file.read(), "precious")
        self.assertFalse(os.path.islink(self.path))
        # Nor if the name was guessed.
        with mock.patch("secrets.token_hex", lambda bytes: "guessed"):
            os.symlink(theirs, os.path.join(self.folder, ".vramscope-guessed.part"))
            with self.assertRaises(FileExistsError):
                replace_file(self.path, lambda file: file.write(b"over"))
        with open(theirs) as file:
            self.assertEqual(file.read(), "precious")

    def test_what_fails_or_is_ended_in_the_middle_leaves_the_old_file(self):
        replace_file(self.path, lambda file: file.write(b"old"))

        def half(error):
            def write(file):
                file.write(b"half")
                raise error

            return write

        for error in (OSError(28, "No space left on device"), KeyboardInterrupt()):
            with self.assertRaises(type(error)):
                replace_file(self.path, half(error))
        with open(self.path, "rb") as file:
            self.assertEqual(file.read(), b"old")

    @unittest.skipUnless(IS_POSIX and os.geteuid() != 0, "root may write anywhere")
    def test_a_folder_that_is_read_only_is_a_warning(self):
        os.chmod(self.folder, 0o500)
        self.addCleanup(os.chmod, self.folder, 0o700)
        with self.assertWarnsRegex(RuntimeWarning, "could not write"):
            with vramscope.record(self.path):
                pass

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_a_full_disk_is_a_warning(self):
        real = os.open
        with mock.patch("os.open", lambda path, flags, mode=0o777: real("/dev/full" if path.endswith(".part") else path, os.O_WRONLY)):
            with self.assertWarnsRegex(RuntimeWarning, "No space left"):
                with vramscope.record(self.path):
                    pass

    @unittest.skipUnless(IS_POSIX, "needs modes")
    def test_the_file_has_the_mode_of_any_new_file(self):
        old = os.umask(0o027)
        self.addCleanup(os.umask, old)
        with vramscope.record(self.path):
            pass
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o640)

    def test_paths_of_bytes(self):
        with vramscope.record(os.fsencode(self.path)) as recording:
            self.torch.observers[0](0, 1, 2, 3)
            recording.dump(os.fsencode(self.path + ".more"))
        self.assertEqual([os.path.basename(file) for file in recording.files], ["snapshot.oom.pickle", "snapshot.pickle.more", "snapshot.pickle"])

    def test_a_rank_that_is_no_number_is_none(self):
        for rank in ("²", "-1", "0x3", "", "1" * 20, "3\n"):
            with mock.patch.dict(os.environ, {"RANK": rank, "WORLD_SIZE": "4"}):
                self.assertEqual(rank_and_size(), (None, 1), rank)
        with mock.patch.dict(os.environ, {"RANK": "3", "WORLD_SIZE": "²"}):
            self.assertEqual(rank_and_size(), (3, 1))

    # Errors

    def test_warnings_that_are_errors_change_nothing(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with mock.patch("sys.stderr") as stderr:
                with self.assertRaises(KeyError):
                    with vramscope.record(os.path.join(self.path, "\0"), pinned=True):
                        raise KeyError("the program's own")
        self.assertIn("could not write", "".join(str(call) for call in stderr.mock_calls))

    def test_a_broken_stderr_changes_nothing(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with mock.patch("sys.stderr", None):
                warn("nobody reads this")
                self.assertIsNone(attempt("divide", lambda: 1 / 0))

    def test_ctrl_c_at_every_line_stops_the_history(self):
        """Ctrl+C while a recording begins or ends: at each line of record.py, one run per line."""
        interrupted = 0
        while self.is_interrupted_at(interrupted):
            self.assertFalse(self.torch.history_on, f"left on by Ctrl+C at line {interrupted} of the run")
            self.assertEqual(vramscope.record.__globals__["_running"], [])
            interrupted += 1
        self.assertGreater(interrupted, 40)

    def is_interrupted_at(self, left):
        """Records with Ctrl+C after `left` lines of record.py; False if it has fewer."""
        usable_torch._is_attached = False
        recording = vramscope.record(self.path)
        with open(vramscope.record.__code__.co_filename) as source:
            lines = [line.strip() for line in source]

        def trace(frame, event, argument):
            nonlocal left
            if frame.f_code.co_filename != vramscope.record.__code__.co_filename:
                return None
            # Python handles no signal between the end of a block and the code that closes it. Nothing can make up for one
            # that arrives at the very entry of __exit__, before it has done anything.
            if event == "line" and not lines[frame.f_lineno - 1].startswith(("try:", "with ", "del self._entries")):
                left -= 1
                if left == -1:
                    raise KeyboardInterrupt
            return trace

        sys.settrace(trace)
        try:
            with recording:
                pass
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(None)
        return False

    def test_a_history_that_cannot_be_stopped_or_started_is_a_warning(self):
        def broken(enabled="all", **options):
            raise RuntimeError("driver")

        self.torch.cuda.memory._record_memory_history = broken
        with self.assertWarnsRegex(RuntimeWarning, "could not start the recording: driver"):
            with vramscope.record(self.path):
                pass

    # Overlapping calls

    def test_recursion_is_one_recording(self):
        @vramscope.record(self.path)
        def count(n):
            self.assertTrue(self.torch.history_on)
            return 0 if n == 0 else 1 + count(n - 1)

        self.assertEqual(count(50), 50)
        self.assertEqual(self.starts(), ["all", None])

    def test_recursion_without_end_is_the_programs_error(self):
        @vramscope.record(self.path)
        def forever():
            return forever()

        with self.assertRaises(RecursionError):
            forever()
        self.assertTrue(os.path.exists(self.path))

    def test_threads_are_one_recording(self):
        barrier = threading.Barrier(8)
        results = []

        @vramscope.record(self.path)
        def work(i):
            barrier.wait(timeout=20)
            self.assertTrue(self.torch.history_on)
            results.append(i)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((sorted(results), self.starts()), (list(range(8)), ["all", None]))

    def test_recordings_that_overlap_end_in_any_order(self):
        one, two = vramscope.record(self.path), vramscope.record(self.path + "2")
        one.__enter__()
        two.__enter__()
        one.__exit__(None, None, None)
        self.assertTrue(self.torch.history_on)
        two.__exit__(None, None, None)
        self.assertEqual(self.starts(), ["all", None])

    def test_generators_are_recorded_until_they_end(self):
        @vramscope.record(self.path)
        def batches():
            got = yield 1
            self.assertTrue(self.torch.history_on)
            try:
                yield got
            except ZeroDivisionError:
                yield "thrown"
            return "done"

        def outer():
            return (yield from batches())

        running = outer()
        self.assertFalse(self.torch.history_on)
        self.assertEqual([next(running), running.send("sent"), running.throw(ZeroDivisionError())], [1, "sent", "thrown"])
        with self.assertRaises(StopIteration) as end:
            next(running)
        self.assertEqual(end.exception.value, "done")
        self.assertTrue(os.path.exists(self.path))

        os.remove(self.path)
        dropped = batches()
        next(dropped)
        dropped.close()
        self.assertTrue(os.path.exists(self.path))

    def test_asynchronous_generators_and_tasks(self):
        ended = []

        @vramscope.record(self.path)
        async def stream():
            try:
                got = yield 1
                try:
                    yield got
                except ZeroDivisionError:
                    yield "thrown"
            finally:
                ended.append(self.torch.history_on)

        async def use():
            running = stream()
            values = [await running.__anext__(), await running.asend("sent"), await running.athrow(ZeroDivisionError())]
            await running.aclose()
            values += [value async for value in stream()]
            return values

        self.assertEqual(asyncio.run(use()), [1, "sent", "thrown", 1, None])
        self.assertEqual(ended, [True, True])

        @vramscope.record(self.path)
        async def task(i):
            await asyncio.sleep(0)
            return i

        async def all_tasks():
            return await asyncio.gather(*(task(i) for i in range(5)))

        self.torch.calls.clear()
        self.assertEqual(asyncio.run(all_tasks()), list(range(5)))
        self.assertEqual(self.starts(), ["all", None])

    # Running out of memory

    def test_nothing_leaves_the_observer(self):
        unwritable = os.path.join(self.folder, "file")
        open(unwritable, "w").close()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with mock.patch("sys.stderr"):
                with vramscope.record(os.path.join(unwritable, "x.pickle")):
                    self.torch.observers[0](0, 1, 2, 3)

    def test_a_name_with_oom_in_it_gets_both_files(self):
        with vramscope.record(os.path.join(self.folder, "my.oom.run.pickle")) as recording:
            recording.dump()
            self.torch.observers[0](0, 1, 2, 3)
        self.assertEqual(len(set(recording.files)), 2)

    # Other processes

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_a_forked_process_leaves_the_recording_to_its_parent(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            with vramscope.record(self.path) as recording:
                before = len(self.torch.calls)
                child = os.fork()
                if child == 0:
                    status = 1
                    try:
                        recording.__exit__(None, None, None)
                        with vramscope.record(self.path + ".child"):  # its own recording
                            pass
                        status = 0 if not os.path.exists(self.path) and os.path.exists(self.path + ".child") else 2
                    finally:
                        os._exit(status)
                self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
                self.assertEqual(len(self.torch.calls), before)
        self.assertEqual([os.path.basename(file) for file in recording.files], ["snapshot.pickle"])

    @unittest.skipUnless(IS_POSIX, "needs signals")
    def test_a_process_that_is_killed_leaves_no_half_file(self):
        """Killed again and again while it writes: the file under that name is always complete."""
        code = f"""if True:
            import sys
            sys.path[:0] = {[os.path.dirname(os.path.abspath(__file__)), *sys.path]!r}
            from fake_torch import fake_torch
            sys.modules["torch"] = torch = fake_torch()
            torch.events = [{{"action": "alloc", "addr": i, "size": 512}} for i in range(20_000)]
            import vramscope
            with vramscope.record({self.path!r}) as recording:
                print("ready", flush=True)
                while True:
                    recording.dump()
                    print("written", flush=True)
            """
        for _ in range(3):
            process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
            for _ in range(3):
                process.stdout.readline()
            process.kill()
            process.communicate(timeout=30)
            with open(self.path, "rb") as file:
                self.assertEqual(len(pickle.load(file)["device_traces"][0]), 20_000)
        for name in os.listdir(self.folder):
            if name.endswith(".part"):
                self.age(name, 601)
        with vramscope.record(self.path):  # removes what is left: see tearDown
            pass

    def age(self, name, seconds):
        then = time.time() - seconds
        os.utime(os.path.join(self.folder, name), (then, then), follow_symlinks=False)

    @unittest.skipUnless(IS_POSIX, "needs links")
    def test_temporary_files_of_killed_programs_go_with_the_next_recording(self):
        abandoned, link, of_now = (f".vramscope-{digit * 16}.part" for digit in "0ab")
        others = [".vramscope-1.part", ".vramscope-0123456789abcdef.part.txt", "vramscope-0123456789abcdef.part", "run.part"]
        for name in (abandoned, of_now, *others):
            with open(os.path.join(self.folder, name), "w") as file:
                file.write("half")
        os.symlink(os.path.join(self.folder, "run.part"), os.path.join(self.folder, link))
        for name in (abandoned, link, *others):
            self.age(name, 601)
        with vramscope.record(self.path):
            pass
        self.assertEqual(sorted(os.listdir(self.folder)), sorted([of_now, "snapshot.pickle", *others]))
        for name in (of_now, *others):
            os.remove(os.path.join(self.folder, name))


if __name__ == "__main__":
    unittest.main()
