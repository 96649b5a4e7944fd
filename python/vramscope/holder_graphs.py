"""No variable holds what autograd saved for the backward pass: the graph of a tensor that has a variable does.

No unpack hook runs: reading what a checkpoint saved would compute its layers again.
"""

from __future__ import annotations

import sys
import threading

#: Nodes examined between two checks of the clock and the other threads: some tenths of a millisecond.
TURN = 32


class Graphs:
    """Names what graph nodes hold: each node once, after the first tensor that leads to it."""

    def __init__(self, torch, walk):
        self._walk = walk
        self._is_on_one_gpu = _is_on_one_gpu(torch)
        self.nodes = 0
        #: Why some were not read.
        self.reason = None
        self._next = 0
        self._seen = set()
        self._getters = {}  # by the id of a node's type, with the type
        self._tells_hooks = _tells_hooks(torch)

    def run(self):
        """Reads the graphs that the walk has found since the last call."""
        while self._next < len(self._walk.graphs) and self._may_go_on():  # what nodes hold may have graphs too
            self._graph(*self._walk.graphs[self._next])
            self._next += 1

    def _may_go_on(self):
        self.reason = self.reason or reason_to_skip(self._is_on_one_gpu) or ("the time was up" if self._walk.is_over() else None)
        return self.reason is None

    def is_new(self, node):
        return node is not None and node not in self._seen

    def _graph(self, link, node):
        stack = [node]
        while stack:
            node = stack.pop()
            if node is None or node in self._seen:
                continue
            self._seen.add(node)
            self.nodes += 1
            if self.nodes % TURN == 0 and not self._may_go_on():
                return
            try:
                self._node(node, link)
                stack.extend(following for following, _ in node.next_functions)
            except Exception:
                continue  # freed by a backward pass meanwhile

    def _node(self, node, link):
        for get in self._getters_of(type(node)):
            for saved in get(node):
                if saved is not None:
                    self._walk.meet(saved, link, "graph")
        own = getattr(node, "__dict__", None)  # what a Function of the program put on its ctx
        if type(own) is dict and own:
            self._walk.meet(own, link, "graph")

    def _getters_of(self, kind):
        known = self._getters.get(id(kind))
        if known is None:
            names = [name for name in dir(kind) if name.startswith("_raw_saved_")]
            known = self._getters[id(kind)] = (kind, [self._getter(name) for name in names])
        return known[1]

    def _getter(self, raw):
        if self._tells_hooks:
            return lambda node: [_data(saved) for saved in _as_list(getattr(node, raw))]
        plain = raw[len("_raw") :] if raw != "_raw_saved_tensors" else "saved_tensors"
        return lambda node: _as_list(_without_python(node, plain))


def _as_list(value):
    return value if type(value) in (list, tuple) else [value]


def _tells_hooks(torch):
    """Whether saved values can be read without unpacking them: newer PyTorch can."""
    saved = getattr(getattr(torch._C, "_autograd", None), "SavedTensor", None)
    return hasattr(saved, "data") and hasattr(saved, "unpack_hook")


def _data(saved):
    try:
        return saved.data
    except Exception:  # None was saved, the node was freed, or the tensor changed since
        return None


class _Stopped(Exception):
    pass


def _stop(frame, event, argument):
    raise _Stopped


def _without_python(node, name):
    """An attribute of a node; None if that would run Python code: an unpack hook is stopped before its first line."""
    tracing = sys.gettrace()
    sys.settrace(_stop)
    try:
        return getattr(node, name)
    except Exception:
        return None
    finally:
        sys.settrace(tracing)


def reason_to_skip(is_on_one_gpu):
    """Why graphs must not be read now, or None: a backward pass in another thread frees what they hold.

    At an OOM, the stopped thread itself runs the pass, unless the pass runs on several GPUs.
    """
    me = threading.get_ident()
    others = [frame for thread, frame in sys._current_frames().items() if thread != me]
    if not any(_is_in_backward(frame) for frame in others):
        return None
    is_autograds_thread = me not in threading._active
    return None if is_autograds_thread and is_on_one_gpu else "a backward pass is running in another thread"


def _is_on_one_gpu(torch):
    try:
        return sum(torch.cuda.memory_reserved(device) > 0 for device in range(torch.cuda.device_count())) <= 1
    except Exception:
        return False


def _is_in_backward(frame):
    while frame is not None:
        code = frame.f_code
        if code.co_name in ("backward", "grad", "_engine_run_backward") and "torch" in code.co_filename and "autograd" in code.co_filename:
            return True
        frame = frame.f_back
    return False
