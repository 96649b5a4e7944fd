"""A test that records into a folder of its own, in a process that is no rank of a job."""

import os
import pickle
import tempfile
import unittest
import warnings
from unittest import mock

from vramscope import usable_torch

OF_RANKS = ("RANK", "WORLD_SIZE", "SLURM_PROCID")


class RecordingCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder, self.path = folder.name, os.path.join(folder.name, "snapshot.pickle")
        usable_torch._is_attached = False
        clean = {name: value for name, value in os.environ.items() if name not in OF_RANKS}
        self.use(mock.patch.dict(os.environ, clean, clear=True))

    def use(self, patch):
        patch.start()
        self.addCleanup(patch.stop)

    def keep_warnings(self):
        """From now on they are in the list that it returns."""
        caught = warnings.catch_warnings(record=True)
        warned = caught.__enter__()
        self.addCleanup(caught.__exit__, None, None, None)
        warnings.simplefilter("always")
        return warned

    def loaded(self, name="snapshot.pickle"):
        with open(os.path.join(self.folder, name), "rb") as file:
            return pickle.load(file)
