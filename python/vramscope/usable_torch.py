"""PyTorch, where it has a GPU to record; and its only hook for running out of memory."""

from __future__ import annotations

from .attempt import attempt, warn

# Once attached, an observer cannot be detached from PyTorch. It calls whatever is in this list.
_watchers = []
_is_attached = False


def usable_torch():
    """PyTorch, if it has a GPU to record; else None, after a warning that says what is missing."""
    try:
        import torch
    except ImportError:
        return warn("PyTorch is not installed: nothing is recorded")
    except Exception as error:
        return warn(f"PyTorch cannot be imported ({error}): nothing is recorded")
    if not attempt("look for a CUDA device", lambda: torch.cuda.is_available()):
        return warn(f"PyTorch {torch.__version__} finds no CUDA device: nothing is recorded")
    # Before CUDA starts there is no allocator, and asking for its history would end the process.
    if attempt("start CUDA", lambda: torch.cuda.init() or True) is None:
        return None
    return torch


def watch_ooms(torch, watcher):
    """Calls `watcher(device)` inside each request that fails, until :func:`unwatch_ooms`."""
    global _is_attached
    _watchers.append(watcher)
    attach = getattr(torch._C, "_cuda_attach_out_of_memory_observer", None)
    if _is_attached or attach is None:
        return

    def observe(device, requested, device_requested, device_free):
        for each in list(_watchers):
            attempt("write the snapshot", lambda: each(device))

    if attempt("watch for running out of memory", lambda: attach(observe) or True):
        _is_attached = True


def unwatch_ooms(watcher):
    if watcher in _watchers:
        _watchers.remove(watcher)
