"""Where a walk begins: the variables of a process, in the order in which a person would look for a tensor."""

from __future__ import annotations

import os
import sys
import sysconfig
import threading
import types

from .holder_children import holds_nothing, locals_of, traceback_of
from .holder_names import Variable, mro_of

HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_PATHS = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")}
STANDARD = tuple(path + os.sep for path in _PATHS if path)
MODULE = "<module>"


def roots(frame):
    """Groups of (variable, value), each to be walked completely before the next: the program's own before libraries',
    running functions from the outermost in and those that an exception keeps, then globals.

    frame: the innermost frame to examine.
    """
    own, own_globals, library, library_globals = [], [], [], []
    modules = [(name, module) for name, module in list(sys.modules.items()) if type(module) is types.ModuleType]
    known = {id(module.__dict__) for _, module in modules}
    for each, via in [*_running(frame), *_raised()]:
        code = each.f_code
        if code.co_filename.startswith(HERE):
            continue
        is_library = is_of_library(code.co_filename)
        if code.co_name != MODULE:
            variables = [(Variable(name, code.co_name, code, code.co_filename, via), value) for name, value in locals_of(each)]
            (library if is_library else own).extend(variables)
        elif not is_library or id(each.f_globals) not in known:
            own.extend(_globals_of(each.f_globals, "", code, via))
    for name, module in modules:
        is_main = name == "__main__"
        file = module.__dict__.get("__file__")
        is_library = not is_main and is_of_library(file)
        found = _globals_of(module.__dict__, "" if is_main else f"{name}.", None, "", type(file) is str and file or "")
        if is_library:
            library_globals.extend(pair for pair in found if type(pair[1]) is not types.FunctionType and not is_class(pair[1]))
        else:
            own_globals.extend(found)
    # What it was raised from, and with.
    errors = [(Variable("sys.last_exc", "", None, "", "last exception"), _last_error())]
    return own, own_globals, library, library_globals, errors


def is_of_library(file):
    if type(file) is not str:
        return True
    return file.startswith(("<frozen", *STANDARD)) or "site-packages" in file or "dist-packages" in file


def _running(frame):
    """The running frames of all threads, this thread first, each from the outermost in."""
    me = threading.get_ident()
    tops = [frame, *(top for thread, top in sys._current_frames().items() if thread != me)]
    for top in tops:
        stack = []
        while top is not None:
            stack.append(top)
            top = top.f_back
        for each in reversed(stack):
            yield each, ""


def _raised():
    """Frames that an exception keeps: the one being handled, and the last one of an interactive Python."""
    for error, via in ((sys.exc_info()[1], "exception"), (_last_error(), "last exception")):
        step = None if error is None else traceback_of(error)
        while step is not None:
            yield step.tb_frame, via
            step = step.tb_next


def _last_error():
    error = sys.__dict__.get("last_exc", sys.__dict__.get("last_value"))
    return error if any(c is BaseException for c in mro_of(type(error))) else None


def _globals_of(held, prefix, code, via, file=""):
    """Names that begin with an underscore come last: IPython keeps each result under several of these."""
    file = code.co_filename if code is not None else file
    shown = _shown_results(held)
    pairs = [(name, value) for name, value in list(held.items()) if type(name) is str and _may_hold(name, value)]
    pairs = [(name, value) for name, value in pairs if not (name.startswith("_") and id(value) in shown)]
    pairs.sort(key=lambda pair: pair[0].startswith("_"))
    return [(Variable(prefix + name, "", code, file, via), value) for name, value in pairs]


def _shown_results(held):
    """Ids of what IPython keeps both in `Out` and under `_`, `__`, `___` and `_4`: a person would empty `Out`."""
    shown = held.get("Out")
    return {id(value) for value in list(dict.values(shown))} if type(shown) is dict and shown is held.get("_oh") else ()


def _may_hold(name, value):
    if len(name) > 4 and name.startswith("__") and name.endswith("__"):
        return False
    return is_class(value) or not holds_nothing(type(value))


def is_class(value):
    return any(each is type for each in mro_of(type(value)))
