"""NVML's answers with a fake library; fixtures/capture/ledger.py compares the real one with pynvml."""

import ctypes
import unittest
from unittest import mock

from vramscope.nvml import UNKNOWN, Card

GB = 1 << 30


class Library:
    """libnvidia-ml with one card and its processes."""

    def __init__(self, total=150 * GB, missing=(), uuid=b"GPU-u"):
        self.total, self.missing, self.uuid, self.code = total, missing, uuid, 0

    def __getattr__(self, name):
        if name in self.missing or not name.startswith("nvml"):
            raise AttributeError(name)
        return lambda *words: self.answer(name, *words)

    def answer(self, name, *words):
        if name == "nvmlDeviceGetHandleByUUID":
            return 0 if words[0] == self.uuid else 6
        if name == "nvmlDeviceGetMemoryInfo":
            words[1]._obj.total, words[1]._obj.free = self.total, 7
        if "Processes" in name:
            rows = [(31, 5), (32, UNKNOWN)] if "Compute" in name else [(33, 6)]
            words[1]._obj.value = len(rows)
            for i, (pid, used) in enumerate(rows):
                words[2][i].pid, words[2][i].used = pid, used
        return self.code


class NvmlTest(unittest.TestCase):
    def card(self, library, total=149 * GB):
        with mock.patch.object(ctypes, "CDLL", lambda name: library):
            return Card("u", total)

    def test_reads_the_card_and_its_processes(self):
        for uuid in (b"GPU-u", b"MIG-u"):
            card = self.card(Library(uuid=uuid))
            self.assertEqual((card.free(), card.processes()), (7, {31: 5, 32: None, 33: 6}))

    def test_says_what_is_wrong(self):
        with mock.patch.object(ctypes, "CDLL", side_effect=OSError):
            with self.assertRaisesRegex(OSError, "is not there"):
                Card("u", GB)
        for library, reason in (
            (Library(uuid=b"GPU-v"), "does not know this card"), (Library(total=300 * GB), "MIG"), (Library(total=GB), "MIG"),
            (Library(missing=["nvmlInit_v2"]), "no nvmlInit_v2"),
        ):
            with self.assertRaisesRegex(OSError, reason):
                self.card(library)
        library = Library()
        card = self.card(library)
        library.code = 999
        with self.assertRaisesRegex(OSError, "code 999"):
            card.processes()


if __name__ == "__main__":
    unittest.main()
