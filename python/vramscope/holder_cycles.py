"""Tensors that only a reference cycle holds: no variable leads to them, and the collector has not run yet."""

from __future__ import annotations

import collections
import gc
import sys
import types

from .holder_children import expander
from .holder_names import ATTRIBUTE, ITEM, VARIABLE, Variable, class_name, item_key, mro_of

#: Most objects to examine, and how often all other objects may be asked whether they refer to these.
MOST_OBJECTS, MOST_ROUNDS = 20_000, 30
CONTAINERS = {id(kind) for kind in (dict, list, tuple, set, frozenset, collections.deque)}


def name_cycles(walk, has_lost):
    """Names what only cycles hold: `Trainer.outputs[3]`, via a cycle through `Trainer.callback`.

    has_lost: whether a tensor that the walk has not seen holds memory that has no name.
    """
    if walk.is_over():
        return
    lost = {id(o): o for o in gc.get_objects() if not walk.has_seen(o) and walk.is_tensor(o) and has_lost(o)}
    if not lost:
        return
    garbage = _unreferenced(lost) if _add_referrers(lost, walk) else {}
    for o in sorted(garbage.values(), key=_rank):
        if not walk.has_seen(o) and not walk.is_over():
            through = _through(o, garbage)
            if through is not None:
                walk.group([(Variable(_called(o), "", None, "", "cycle", through), o)])


def _add_referrers(group, walk):
    """Adds to `group` everything unseen that refers to it, directly or not; False if that is too much."""
    skipped = {id(group), id(sys.modules), *(id(module.__dict__) for module in list(sys.modules.values()) if type(module) is types.ModuleType)}
    others = [o for o in gc.get_objects() if not walk.has_seen(o) and type(o) is not type and id(o) not in skipped]
    fresh = set(group)
    for _ in range(MOST_ROUNDS):
        if not fresh:
            return True
        if len(group) > MOST_OBJECTS or walk.is_over():
            return False
        found = [o for o in others if id(o) not in group and not fresh.isdisjoint(map(id, gc.get_referents(o)))]
        fresh = {id(o) for o in found}
        group.update((id(o), o) for o in found)
    return False


def _unreferenced(group):
    """What the collector would find: objects that are referenced only by each other."""
    inside = collections.Counter(id(r) for o in group.values() for r in gc.get_referents(o))
    probe = object()
    group[None] = probe  # references that examining them adds
    del probe
    counts = {key: sys.getrefcount(o) for key, o in group.items()}
    ours = counts.pop(None)
    del group[None]
    alive = [key for key, count in counts.items() if count - ours > inside[key]]
    while alive:
        o = group.pop(alive.pop(), None)
        alive.extend(id(r) for r in gc.get_referents(o) if id(r) in group)
    return group


def _rank(o):
    """What a person would begin a name with: objects of user classes, then running code, then containers."""
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
    """The step from `o` that leads back to it: `Trainer.callback`; None if there is none."""
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
