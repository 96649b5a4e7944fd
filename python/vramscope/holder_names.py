"""Names what a variable leads to as a person would: `model.layers[3].weight`, `cache in serve()['key']`.

A path is a chain of links, each (previous link, kind of step, key, object that it leads to). A name is written only
when a tensor is found.
"""

from __future__ import annotations

import re
from typing import NamedTuple

#: Kinds of steps: an attribute, a module's buffer, an item, other words to append to the name, words that name an inner
#: variable (of a closure or a paused generator), plumbing that no name shows, and words to begin the name with.
ATTRIBUTE, BUFFER, ITEM, WORDS, VARIABLE, SAME, BEFORE = range(7)
LONGEST_KEY = 40
NAME = re.compile(r"\w{1,80}")
NUMBERS = (int, float, complex, bool, type(None))

mro_of = type.__dict__["__mro__"].__get__
class_name = type.__dict__["__name__"].__get__


class Variable(NamedTuple):
    """Where a path begins. `via` is '' for a variable of a running function or a module, else what keeps it: 'exception',
    'last exception' (of an interactive Python), or 'cycle', which goes through `through`."""

    name: str
    function: str  # '' for a global
    code: object  # whose instructions set it, if known
    file: str
    via: str
    through: str = ""

    @property
    def text(self):
        return f"{self.name} in {self.function}()" if self.function else self.name


def first_link(variable, value):
    return (None, WORDS, variable, value)


def chain_of(link):
    """The links from the variable on."""
    links = []
    while link is not None:
        links.append(link)
        link = link[0]
    links.reverse()
    return links


def name_of(link, with_keys=True):
    """`with_keys=False` writes the type of a dictionary's key instead of the key, which may be data."""
    text = ""
    for _, kind, key, _ in chain_of(link):
        if isinstance(key, Variable):
            text += key.text
        elif kind == ATTRIBUTE or kind == BUFFER:
            text += f".{key if NAME.fullmatch(key) else short(key)}"
        elif kind == ITEM:
            text += f"[{item_key(key, with_keys)}]"
        elif kind == WORDS or kind == VARIABLE:
            text += key
        elif kind == BEFORE:
            text = key + text
    return text


def item_key(key, with_keys=True):
    """A key as Python writes it, shortened if long; for an object of the program, the name of its type."""
    kind = type(key)
    if kind is int:
        return str(key) if abs(key) < 2**64 else "int"
    if with_keys and any(kind is number for number in NUMBERS):
        return repr(key)
    if kind is str and with_keys:
        return short(key)
    if kind is tuple and with_keys and len(key) <= 4:
        return "(" + ", ".join(item_key(part) for part in key) + ")"
    return class_name(kind)


def short(text):
    return repr(text if len(text) <= LONGEST_KEY else text[:LONGEST_KEY] + "…")
