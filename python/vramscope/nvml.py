"""What NVIDIA's driver says about a card and the processes on it, from libnvidia-ml itself: no package is needed.

Nothing here starts CUDA, and each call releases the GIL and takes about 20 microseconds.
"""

from __future__ import annotations

import ctypes

MOST_PROCESSES = 256
UNKNOWN = 2**64 - 1


class _Memory(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]


class _Process(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong), ("gpu_instance", ctypes.c_uint), ("compute_instance", ctypes.c_uint)]


class Card:
    """One card as the driver counts it. Raises OSError, with the reason in words, if it cannot be asked."""

    def __init__(self, uuid, total):
        """uuid: CUDA's, without its prefix. total: CUDA's bytes, by which a part of a card (MIG) is told from the whole."""
        try:
            self._library = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            raise OSError("NVIDIA's libnvidia-ml.so.1 is not there") from None
        self._call("nvmlInit_v2")
        self._handle = ctypes.c_void_p()
        for prefix in ("GPU-", "MIG-"):
            if self._code("nvmlDeviceGetHandleByUUID", f"{prefix}{uuid}".encode(), ctypes.byref(self._handle)) == 0:
                break
        else:
            raise OSError("NVML does not know this card")
        # NVML's total includes what the driver keeps for itself: 0.4% of an H200.
        if not total <= self._memory().total <= 1.15 * total:
            raise OSError("NVML counts another part of this card than CUDA does (MIG)")

    def free(self):
        """The same bytes as torch.cuda.mem_get_info(), which would start CUDA."""
        return self._memory().free

    def processes(self):
        """Bytes of each process on the card, by its id; None where the driver does not say."""
        found = {}
        for kind in ("Compute", "Graphics"):
            count, rows = ctypes.c_uint(MOST_PROCESSES), (_Process * MOST_PROCESSES)()
            self._call(f"nvmlDeviceGet{kind}RunningProcesses_v3", self._handle, ctypes.byref(count), rows)
            found.update((row.pid, None if row.used == UNKNOWN else row.used) for row in rows[: count.value])
        return found

    def _memory(self):
        memory = _Memory()
        self._call("nvmlDeviceGetMemoryInfo", self._handle, ctypes.byref(memory))
        return memory

    def _call(self, name, *arguments):
        code = self._code(name, *arguments)
        if code != 0:
            raise OSError(f"{name} of NVML failed with code {code}")

    def _code(self, name, *arguments):
        try:
            return getattr(self._library, name)(*arguments)
        except AttributeError:
            raise OSError(f"this driver's NVML has no {name}") from None
