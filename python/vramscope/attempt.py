"""Tries things that must never stop the recorded program."""

from __future__ import annotations

import sys
import warnings


def attempt(what, action):
    """What `action` returns; None, after a warning, if it fails. Ctrl+C passes through."""
    try:
        return action()
    except Exception as error:
        warn(f"could not {what}: {error or type(error).__name__}")
        return None


def warn(text):
    """Warns, and never raises: if warnings are errors (`-W error`), the text goes to stderr."""
    said = f"vramscope.record: {text}"
    try:
        # For most callers, three levels up is still vramscope's own code, so the text says where it comes from.
        warnings.warn(said, RuntimeWarning, stacklevel=3)
    except Exception:
        try:
            print(said, file=sys.stderr)
        except Exception:
            pass  # stderr is closed, or full
