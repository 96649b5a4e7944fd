"""Trying what must never stop the program that is recorded."""

from __future__ import annotations

import sys
import warnings


def attempt(what, action):
    """What `action` returns; None after a warning where it fails. Ctrl+C passes through."""
    try:
        return action()
    except Exception as error:
        warn(f"could not {what}: {error or type(error).__name__}")
        return None


def warn(text):
    """Warns, and never raises: where warnings are errors (`-W error`), the text goes to stderr."""
    said = f"vramscope.record: {text}"
    try:
        # Three levels up from here lies vramscope's own code for most callers: the text says who speaks.
        warnings.warn(said, RuntimeWarning, stacklevel=3)
    except Exception:
        try:
            print(said, file=sys.stderr)
        except Exception:
            pass  # stderr is closed, or full
