"""Reads what an object holds without running a line of the program: no property, no `__getattr__`, no overridden
method, no module that loads itself when it is accessed.

`expander(type)` returns a function of an object that yields (kind of step, key, child), or None if objects of that type
hold nothing.
"""

from __future__ import annotations

import collections
import functools
import gc
import itertools
import sys
import types
import weakref

from .holder_names import ATTRIBUTE, BUFFER, ITEM, SAME, VARIABLE, WORDS, class_name, mro_of

#: Most entries of a dictionary or set to read: copies of larger ones would take too much memory.
MOST_ENTRIES = 500_000
#: PyTorch's own snapshots have four or five keys.
MOST_KEYS_OF_SNAPSHOT = 16
#: A type's flag: Python's garbage collector knows what its objects hold.
HAS_REFERENTS = 1 << 14
HOLD_NOTHING = (
    *(int, float, complex, str, bytes, bytearray, memoryview, bool, range, slice, type(None), type(...), type(NotImplemented)),
    *(type, types.ModuleType, types.BuiltinFunctionType, types.CodeType, types.GetSetDescriptorType, types.MemberDescriptorType),
    *(types.MethodDescriptorType, types.WrapperDescriptorType, property, staticmethod, classmethod),
    *(weakref.ReferenceType, weakref.ProxyType, weakref.CallableProxyType),
)
# Attributes of modules that wrap another one, by the wrapping class: a person names what is inside.
PLUMBING = {
    "OptimizedModule": "_orig_mod",
    "DistributedDataParallel": "module",
    "DataParallel": "module",
    "FullyShardedDataParallel": "_fsdp_wrapped_module",
    "CheckpointWrapper": "_checkpoint_wrapped_module",
    "_LightningModuleWrapperBase": "_forward_module",
    "DTensor": "_local_tensor",
}
MODULE_TABLES = ("_parameters", "_buffers", "_modules")
NEEDS_CLEARING = sys.version_info < (3, 13)

class_dict = type.__dict__["__dict__"].__get__
_flags_of = type.__dict__["__flags__"].__get__
traceback_of = BaseException.__dict__["__traceback__"].__get__
_context_of = BaseException.__dict__["__context__"].__get__
_cause_of = BaseException.__dict__["__cause__"].__get__
_args_of = BaseException.__dict__["args"].__get__


def expander(kind):
    classes = mro_of(kind)
    for known in classes:
        if holds_nothing(known):
            return None
        own = _BY_ID.get(id(known))
        if own is not None:
            attributes = attributes_of(kind)
            return own if attributes is None else lambda o: itertools.chain(own(o), attributes(o))
    attributes = attributes_of(kind)
    if attributes is not None or not _flags_of(kind) & HAS_REFERENTS:
        return attributes
    return _referents


def holds_nothing(kind):
    """By identity, because comparing types may run code of their metaclasses."""
    return id(kind) in _NOTHING


def holds_no_objects(o):
    """A dictionary or tuple of numbers and texts, such as a frame of a snapshot that the program has read. Python's
    collector ignores those, and so does the walk, which may meet millions.
    """
    return (type(o) is dict or type(o) is tuple) and not gc.is_tracked(o)


def is_plain(kind):
    """A class of the program that does not derive from a container."""
    return not any(id(c) in _BY_ID for c in mro_of(kind))


def attributes_of(kind):
    """Yields what is in an object's `__dict__` and slots; None if objects of this type have neither."""
    classes = mro_of(kind)
    # A class may define its own `__dict__` as a property; the real one is a descriptor made by Python.
    dict_of = next((d.__get__ for c in classes if isinstance(d := class_dict(c).get("__dict__"), types.GetSetDescriptorType)), None)
    slots = [(name, d.__get__) for c in classes for name, d in class_dict(c).items() if type(d) is types.MemberDescriptorType]
    if dict_of is None and not slots:
        return None
    inner = next((PLUMBING[class_name(c)] for c in classes if class_name(c) in PLUMBING), None)

    def attributes(o):
        if dict_of is not None:
            try:
                held = dict_of(o)
            except Exception:
                held = {}
            for name, value in list(dict.items(held)) if isinstance(held, dict) else ():
                if name in MODULE_TABLES and type(value) in (dict, collections.OrderedDict):
                    for key, part in list(dict.items(value)):
                        yield (BUFFER if name == "_buffers" else _step(key, inner)), key, part
                else:
                    yield _step(name, inner), name, value
        for name, get in slots:
            try:
                value = get(o)
            except AttributeError:
                continue
            yield _step(name, inner), name, value

    return attributes


def _step(name, inner):
    if name == inner:
        return SAME
    return ATTRIBUTE if type(name) is str else ITEM


def _dict(o):
    entries = list(itertools.islice(dict.items(o), MOST_ENTRIES))
    if len(entries) <= MOST_KEYS_OF_SNAPSHOT and any(type(key) is str and key == "device_traces" for key, _ in entries):
        return  # a snapshot that the program itself took: large, and only about tensors
    for key, value in entries:
        yield ITEM, key, value
        if type(key) is not str and type(key) is not int:
            yield WORDS, ".keys()", key


def _list(o):
    at = 0
    while part := list.__getitem__(o, slice(at, at + 1024)):  # it may change meanwhile
        for i, value in enumerate(part, at):
            yield ITEM, i, value
        at += len(part)


def _tuple(o):
    fields = class_dict(type(o)).get("_fields")
    for i, value in enumerate(tuple.__iter__(o)):
        is_named = type(fields) is tuple and i < len(fields) and type(fields[i]) is str
        yield (ATTRIBUTE, fields[i], value) if is_named else (ITEM, i, value)


def _deque(o):
    for i, value in enumerate(list(itertools.islice(collections.deque.__iter__(o), MOST_ENTRIES))):
        yield ITEM, i, value


def _set(o):
    iterate = set.__iter__ if any(c is set for c in mro_of(type(o))) else frozenset.__iter__
    for value in list(itertools.islice(iterate(o), MOST_ENTRIES)):
        yield WORDS, "{…}", value


def _function(o):
    for name, cell in zip(o.__code__.co_freevars, o.__closure__ or ()):
        try:
            yield VARIABLE, f" closes over {name}", cell.cell_contents
        except ValueError:
            pass  # not set yet
    # Its attributes, if it has any: asking for them otherwise would create a dictionary that stays.
    common = (o.__globals__, getattr(o, "__builtins__", None), o.__kwdefaults__)
    for held in gc.get_referents(o):
        if type(held) is dict and not any(held is each for each in common):
            for name, value in list(held.items()):
                yield ATTRIBUTE, name, value
    for value in (*(o.__defaults__ or ()), *(o.__kwdefaults__ or {}).values()):
        yield WORDS, "'s default", value


def _method(o):
    yield SAME, "", o.__self__
    yield SAME, "", o.__func__


def _cache(o):
    for value in gc.get_referents(o):
        yield WORDS, "'s cache", value


def _paused(o):
    """A generator, coroutine or asynchronous generator."""
    frame = getattr(o, "gi_frame", None) or getattr(o, "cr_frame", None) or getattr(o, "ag_frame", None)
    if frame is not None:
        for name, value in locals_of(frame):
            yield VARIABLE, f" (paused in {o.__name__}()): {name}", value


def _frame(o):
    for name, value in locals_of(o):
        yield VARIABLE, f": {name} in {o.f_code.co_name}()", value


def _traceback(o):
    while o is not None:
        for name, value in locals_of(o.tb_frame):
            yield VARIABLE, f"'s traceback: {name} in {o.tb_frame.f_code.co_name}()", value
        o = o.tb_next


def _exception(o):
    for value in (traceback_of(o), _context_of(o), _cause_of(o), _args_of(o)):
        yield SAME, "", value


def _referents(o):
    """What Python's collector knows about an extension's object: iterators, cells, caches."""
    for value in gc.get_referents(o):
        yield SAME, "", value


def class_attributes(o):
    """What the objects of a class share."""
    for name, value in list(class_dict(o).items()):
        if type(value) is staticmethod or type(value) is classmethod:
            value = value.__func__
        if not (name.startswith("__") and name.endswith("__")):
            yield ATTRIBUTE, name, value


def locals_of(frame):
    """(name, value) of a frame's variables, leaving no reference behind.

    Up to Python 3.12, a frame keeps the dictionary that it returns, and with it every value of that moment until the
    function returns. So the values are removed again, unless the program itself has asked for `locals()`.
    """
    held = frame.f_locals
    found = list(held.items())
    code = frame.f_code
    if NEEDS_CLEARING and code.co_flags & 1:  # CO_OPTIMIZED: of a function, whose dictionary is a copy
        # Referenced by the frame, `held` and the argument, and by nobody else.
        if sys.getrefcount(held) <= 3:
            for name in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
                held.pop(name, None)
    return found


EXPANDERS = {
    dict: _dict,
    list: _list,
    tuple: _tuple,
    collections.deque: _deque,
    set: _set,
    frozenset: _set,
    types.FunctionType: _function,
    types.MethodType: _method,
    functools._lru_cache_wrapper: _cache,
    types.GeneratorType: _paused,
    types.CoroutineType: _paused,
    types.AsyncGeneratorType: _paused,
    types.FrameType: _frame,
    types.TracebackType: _traceback,
    BaseException: _exception,
}
_BY_ID = {id(kind): own for kind, own in EXPANDERS.items()}
_NOTHING = {id(kind) for kind in HOLD_NOTHING}
