"""vramscope: where every byte of a PyTorch program's GPU memory went, and why it ran out.

    vramscope.record("snapshot.pickle")  records a snapshot, as a context manager or a decorator
    vramscope.holders("snapshot.pickle") names the variables that hold memory, beside a snapshot that you dumped yourself
    vramscope.ledger()                   samples the whole card's memory, for a program that dumps by itself
    vramscope.show("snapshot.pickle")    shows one in a notebook
    python -m vramscope snapshot.pickle  shows one in the browser
"""

from .holders import holders
from .ledger import ledger
from .notebook import show
from .record import record
from .version import __version__

__all__ = ["__version__", "holders", "ledger", "record", "show"]
