"""The variable or container that holds many tensors: `losses`, a list of 60, set in train.py:301.

On the path from a variable to a tensor, it comes just before the first step that selects one of many: an item of a list.
"""

from __future__ import annotations

import collections
import dis

from .holder_children import class_dict
from .holder_names import ATTRIBUTE, BUFFER, SAME, VARIABLE, Variable, chain_of, class_name, mro_of, name_of

#: Dictionaries up to this size have fields rather than entries: a person would name `state['history']`.
MOST_FIELDS = 16
#: Most owners whose line is searched for, because that means reading code.
MOST_LINES = 300
STORES = ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF")
SIZED = {id(kind): kind for kind in (list, tuple, dict, set, frozenset, collections.deque)}


class Owners:
    """Numbers the owner of each link, and writes the owners."""

    def __init__(self, with_keys=True):
        self._with_keys = with_keys
        self._numbers = {}  # (id of the owner's object, its name) → number
        self._links = []

    def index_of(self, link, kind):
        chain = chain_of(link)
        owner = _owner(chain, kind)
        key = id(owner[3])
        if key not in self._numbers:
            self._numbers[key] = len(self._links)
            self._links.append(owner)
        return self._numbers[key]

    def rows(self):
        return [self._row(link, number < MOST_LINES) for number, link in enumerate(self._links)]

    def _row(self, link, with_line):
        variable = chain_of(link)[0][2]
        row = {"name": name_of(link, self._with_keys), "type": class_name(type(link[3]))}
        sized = next((SIZED[id(c)] for c in mro_of(type(link[3])) if id(c) in SIZED), None)
        if sized is not None:
            row["length"] = sized.__len__(link[3])
        if variable.via:
            row["via"] = variable.via
        if variable.through:
            row["through"] = variable.through
        file, line = _place(chain_of(link), variable) if with_line else ("", 0)
        if file:
            row["file"] = file
        if line:
            row["line"] = line
        return row


def _owner(chain, kind):
    """The first link on the path that is more than a step to the next one: for a model's parts, the model."""
    is_of_model = kind in ("parameter", "buffer", "gradient")
    for link, following in zip(chain, [*chain[1:], None]):
        if following is None or _has_base(link, "torch", "Tensor"):  # a graph belongs to a tensor
            return link
        if is_of_model and _has_base(link, "torch.nn.modules.module", "Module"):
            return link
        _, step, key, _ = following
        if step in (ATTRIBUTE, BUFFER, VARIABLE, SAME):
            continue
        is_field = type(link[3]) is dict and type(key) is str and len(link[3]) <= MOST_FIELDS
        if not is_field:
            return link
    raise ValueError("an empty way")


def _has_base(link, module, name):
    return any(class_name(c) == name and class_dict(c).get("__module__") == module for c in mro_of(type(link[3])))


def _place(chain, variable: Variable):
    """(file, line) where the owner, or else its variable, is set; ('', 0) if the code does not say."""
    for before, link in zip(reversed(chain[:-1]), reversed(chain)):
        if link[1] == ATTRIBUTE:
            for code in _codes_of(type(before[3])):
                line = _line_of_store(code, ("STORE_ATTR",), link[2])
                if line:
                    return code.co_filename, line
    line = _line_of_store(variable.code, STORES, variable.name) if variable.code is not None else 0
    return variable.file, line


def _codes_of(kind):
    """The code of a class's methods and of its bases', `__init__` first."""
    for c in mro_of(kind)[:4]:
        methods = [value for _, value in sorted(class_dict(c).items(), key=lambda item: item[0] != "__init__")]
        yield from (value.__code__ for value in methods if type(value) is type(_codes_of))


def _line_of_store(code, operations, name):
    if name not in (*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars):
        return 0
    line = 0
    for instruction in dis.get_instructions(code):
        if instruction.starts_line:
            line = _line_number(instruction, line)
        if instruction.opname.startswith(operations) and name in _names_of(instruction.argval):
            return line
    return code.co_firstlineno if name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] else 0


def _line_number(instruction, before):
    number = getattr(instruction, "line_number", None)  # Python 3.13: starts_line is a flag
    if number is None:
        number = instruction.starts_line
    return number if type(number) is int else before


def _names_of(argument):
    """Python 3.13 stores two variables in one instruction."""
    return argument if type(argument) is tuple else (argument,)
