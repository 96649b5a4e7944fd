"""Tensors that only a reference cycle holds: no variable leads to them, and the collector has not come by yet."""

from __future__ import annotations

import collections
import gc
import sys
import types

from .holder_children import expander
from .holder_names import ATTRIBUTE, ITEM, VARIABLE, Variable, class_name, item_key, mro_of

#: Objects that are looked at, and times that all objects of the process are asked who refers to these.
MOST_OBJECTS, MOST_ROUNDS = 20_000, 30
CONTAINERS = {id(kind) for kind in (dict, list, tuple, set, frozenset, collections.deque)}


def name_cycles(walk):
    """Names what cycles alone hold: `Trainer.outputs[3]`, via a cycle through `Trainer.callback`."""
    if walk.is_over():
        return
    lost = {id(o): o for o in gc.get_objects() if not walk.has_seen(o) and walk.is_tensor(o)}
    garbage = _garbage(lost, walk) if len(lost) <= MOST_OBJECTS else {}
    for o in sorted(garbage.values(), key=_rank):
        if not walk.has_seen(o) and not walk.is_over():
            through = _through(o, garbage)
            if through is not None:
                walk.group([(Variable(_called(o), "", None, "", "cycle", through), o)])


def _garbage(group, walk):
    """`group` and all that refers to it, however far, as far as nothing else refers to that; {} where it is too much."""
    held = _add_referrers(group, walk)
    return {} if held is None else _unreferenced(group, held)


def _add_referrers(group, walk):
    """Adds to `group` what refers to it, up to what the walk has seen; returns the ids of what that holds, or None."""
    modules = {id(module.__dict__) for module in list(sys.modules.values()) if type(module) is types.ModuleType}
    held = set()
    fresh = list(group.values())
    for _ in range(MOST_ROUNDS):
        if not fresh:
            return held
        if len(group) > MOST_OBJECTS or walk.is_over():
            return None
        known, fresh = fresh, []
        ours = {id(group), id(known), id(fresh)}
        for o in gc.get_referrers(*known):
            if id(o) in group or id(o) in ours:
                continue
            if walk.has_seen(o) or id(o) in modules or type(o) is types.ModuleType:
                held.update(id(r) for r in gc.get_referents(o))
            else:
                group[id(o)] = o
                fresh.append(o)
    return None


def _unreferenced(group, held):
    """What the collector would find: objects that are referred to only from among themselves."""
    inside = collections.Counter(id(r) for o in group.values() for r in gc.get_referents(o))
    probe = object()
    group[None] = probe  # how many references looking at them costs
    del probe
    counts = {key: sys.getrefcount(o) for key, o in group.items()}
    ours = counts.pop(None)
    del group[None]
    alive = [key for key, count in counts.items() if count - ours > inside[key] or key in held]
    while alive:
        o = group.pop(alive.pop(), None)
        alive.extend(id(r) for r in gc.get_referents(o) if id(r) in group)
    return group


def _rank(o):
    """What a person would begin a name with: objects of a class of their own, then what runs, then containers."""
    kind = type(o)
    if kind in (types.FrameType, types.FunctionType, types.GeneratorType, types.TracebackType, types.CellType, types.MethodType):
        return 2
    if any(id(c) in CONTAINERS for c in mro_of(kind)):
        return 3
    return 1 if any(c is BaseException for c in mro_of(kind)) else 0


def _called(o):
    if type(o) is types.FrameType:
        return f"{o.f_code.co_name}()"
    return o.__name__ if type(o) is types.FunctionType else class_name(type(o))


def _through(o, garbage):
    """The step from `o` that leads back to it: `Trainer.callback`; None where none does."""
    expand = expander(type(o))
    for step, key, value in expand(o) if expand is not None else ():
        if id(value) in garbage and _leads_to(value, o, garbage):
            words = f".{key}" if step == ATTRIBUTE else f"[{item_key(key, False)}]" if step == ITEM else key if step == VARIABLE else ""
            return _called(o) + words
    return None


def _leads_to(start, goal, garbage):
    seen, stack = set(), [start]
    while stack:
        o = stack.pop()
        if o is goal:
            return True
        if id(o) not in seen:
            seen.add(id(o))
            stack.extend(r for r in gc.get_referents(o) if id(r) in garbage)
    return False
