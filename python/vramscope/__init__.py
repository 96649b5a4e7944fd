"""vramscope: where every byte of a PyTorch program's GPU memory went."""

from .record import record

__all__ = ["record"]
