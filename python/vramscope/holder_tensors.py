"""Reads tensors through PyTorch's own getters, so that a subclass's properties and hooks do not run."""

from __future__ import annotations

import contextlib

from .holder_children import class_dict
from .holder_names import mro_of


class Tensors:
    """Reads the tensors of the PyTorch that the program has imported."""

    def __init__(self, torch):
        self.torch = torch
        base = getattr(torch._C, "TensorBase", None) or torch._C._TensorBase
        self._is_cuda, self._is_leaf, self._grad_fn, self._grad, self._retains_grad = (
            getattr(base, name).__get__ for name in ("is_cuda", "is_leaf", "grad_fn", "grad", "retains_grad")
        )
        self._layout = base.layout.__get__
        #: Whether a tensor is to have a gradient.
        self.requires_gradient = base.requires_grad.__get__
        # The first does not make a copy-on-write tensor copy, as `data_ptr()` does.
        self._data_address = getattr(torch._C, "_data_address", None)
        self._untyped_storage = getattr(base, "untyped_storage", None)
        self.roles = {id(torch.Tensor): "tensor", id(torch.nn.Parameter): "parameter", id(torch.nn.Module): "module"}
        self.roles[id(torch.optim.Optimizer)] = "optimizer"
        for name in ("UntypedStorage", "TypedStorage", "_UntypedStorage"):
            if name in vars(torch):
                self.roles[id(vars(torch)[name])] = "storage"

    def role(self, kind):
        """'tensor', 'parameter', 'module', 'optimizer', 'storage' or None, by the class, never by asking the object."""
        return next((self.roles[id(c)] for c in mro_of(kind) if id(c) in self.roles), None)

    def is_wrapper(self, kind):
        """Whether the class has its own `__torch_dispatch__`."""
        own = next((d for c in mro_of(kind) if (d := class_dict(c).get("__torch_dispatch__")) is not None), None)
        return own is not None and own is not class_dict(self.torch.Tensor).get("__torch_dispatch__")

    def quietly(self):
        """Turns off `__torch_function__` of subclasses in this thread."""
        off = getattr(self.torch._C, "DisableTorchFunctionSubclass", None) or getattr(self.torch._C, "DisableTorchFunction", None)
        return off() if off is not None else contextlib.nullcontext()

    def storage(self, tensor, is_wrapper=False):
        """(address, bytes) of a tensor's GPU memory; (0, 0) if it has none of its own.

        is_wrapper: asking for its device would run `__torch_dispatch__`, so this may be a CPU address.
        """
        try:
            if not is_wrapper and not self._is_cuda(tensor):
                return 0, 0
            storage = self._untyped_storage(tensor) if self._untyped_storage else tensor.storage()._storage
            address = self._data_address(tensor) if self._data_address else storage.data_ptr()
            return address, storage.nbytes()
        except Exception:  # sparse, or a wrapper around others
            return 0, 0

    def address_of_storage(self, storage):
        try:
            storage = getattr(storage, "_untyped_storage", storage)
            return (storage.data_ptr(), storage.nbytes()) if storage.device.type == "cuda" else (0, 0)
        except Exception:
            return 0, 0

    def gradient(self, tensor):
        try:
            return self._grad(tensor) if self._is_leaf(tensor) or self._retains_grad(tensor) else None
        except Exception:
            return None

    def graph(self, tensor):
        try:
            return self._grad_fn(tensor)
        except Exception:  # a view that was modified in a way that autograd cannot track
            return None

    def parts(self, tensor):
        """The tensors that make up a sparse tensor."""
        try:
            if self._layout(tensor) is self.torch.sparse_coo:
                return [("indices", tensor._indices()), ("values", tensor._values())]
        except Exception:
            pass
        return []
