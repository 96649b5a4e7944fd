"""A fake PyTorch that notes how it is told to record."""

import types

# Parameters of _record_memory_history in each version.
SIGNATURES = {
    "2.1.0": "enabled='all', context='all', stacks='all', max_entries=2**63, device=None",
    "2.6.0": "enabled='all', context='all', stacks='all', max_entries=2**63, device=None, clear_history=False",
    "2.9.0": "enabled='all', context='all', stacks='all', max_entries=2**63, device=None, clear_history=False, compile_context=False, global_record_annotations=False",
    "2.14.0": "enabled='all', context='all', stacks='all', max_entries=2**63, device=None, clear_history=False, compile_context=False, global_record_annotations=False, skip_actions=None, record_pinned_host_memory=False, record_cuda=True",
}


def fake_torch(version="2.14.0", has_gpu=True):
    """A PyTorch that notes its calls. Like the real one, it dies if CUDA was not started first."""
    torch = types.ModuleType("torch")
    torch.__version__ = version
    torch.calls, torch.history_on, torch.is_started, torch.observers = [], False, False, []
    torch.events = [{"action": "alloc", "time_us": 0, "addr": 1, "size": 512}]

    def started():
        if not torch.is_started:
            raise SystemError("a segmentation fault")

    def remember(given):
        torch.calls.append({name: value for name, value in given.items() if name != "remember"})
        torch.history_on = given["enabled"] is not None

    scope = {"remember": remember}
    exec(f"def _record_memory_history_impl({SIGNATURES[version]}):\n    remember(dict(locals()))", scope)

    def init():
        torch.is_started = True

    def is_history_enabled():
        started()
        return torch.history_on

    def attach(observer):
        started()
        torch.observers.append(observer)

    memory = types.SimpleNamespace(
        _record_memory_history=lambda enabled="all", *args, **options: scope["_record_memory_history_impl"](enabled, *args, **options),
        _record_memory_history_impl=scope["_record_memory_history_impl"],
        _snapshot=lambda: {"segments": [], "device_traces": [list(torch.events)], "external_annotations": []},
    )
    # Half a GB of `used` on each device with a context is the context itself.
    torch.card = types.SimpleNamespace(total=140 << 30, used=0, allocated=0, reserved=0, contexts=set(), devices=1)

    def mem_get_info(device):
        if device not in torch.card.contexts:
            raise AssertionError("this would start CUDA on the device")
        return torch.card.total - torch.card.used, torch.card.total

    def figures(device):
        card = torch.card
        return {"allocated_bytes": {"all": {"current": card.allocated}}, "reserved_bytes": {"all": {"current": card.reserved}}}

    torch.cuda = types.SimpleNamespace(
        is_available=lambda: has_gpu, init=init, memory=memory, mem_get_info=mem_get_info, memory_stats_as_nested_dict=figures,
        device_count=lambda: torch.card.devices, current_device=lambda: 0, nccl=types.SimpleNamespace(version=lambda: (2, 28, 9)),
        get_device_properties=lambda device: types.SimpleNamespace(total_memory=torch.card.total, uuid=f"uuid-{device}"),
    )
    torch._C = types.SimpleNamespace(
        _cuda_isHistoryEnabled=is_history_enabled, _cuda_attach_out_of_memory_observer=attach,
        _cuda_hasPrimaryContext=lambda device: device in torch.card.contexts,
    )
    add_tensors(torch)
    return torch


def add_tensors(torch):
    """Tensors, modules and optimizers, only as far as they hold each other; each tensor has its own storage."""

    class Storage:
        __slots__ = ("address", "bytes")

        def __init__(self, address, nbytes):
            self.address, self.bytes = address, nbytes

        def nbytes(self):
            return self.bytes

        def data_ptr(self):
            return self.address

    own = {}  # by the tensor's id, not as attributes: the walk must ask these as it asks PyTorch's tensors
    nothing = {"storage": Storage(0, 0), "cuda": False, "grad": None, "grad_fn": None}

    def of(tensor):
        return own.get(id(tensor), nothing)

    class TensorBase:
        def __init__(self, nbytes=512, cuda=True, grad=None, grad_fn=None):
            self.address = 1 + len(own) << 20
            own[id(self)] = {"storage": Storage(self.address, nbytes), "cuda": cuda, "grad": grad, "grad_fn": grad_fn}

        is_cuda = property(lambda self: of(self)["cuda"])
        is_leaf = property(lambda self: of(self)["grad_fn"] is None)
        grad_fn = property(lambda self: of(self)["grad_fn"])
        grad = property(lambda self: of(self)["grad"])
        retains_grad = property(lambda self: False)
        layout = property(lambda self: "strided")
        requires_grad = property(lambda self: isinstance(self, Parameter))

        def untyped_storage(self):
            return of(self)["storage"]

    class Tensor(TensorBase):
        pass

    class Parameter(Tensor):
        pass

    class Module:
        def __init__(self, **parts):
            self._parameters = {name: part for name, part in parts.items() if isinstance(part, Parameter)}
            self._buffers = {name: part for name, part in parts.items() if isinstance(part, Tensor) and not isinstance(part, Parameter)}
            self._modules = {name: part for name, part in parts.items() if isinstance(part, Module)}

    class Optimizer:
        def __init__(self, parameters):
            self.param_groups = [{"params": list(parameters), "lr": 0.1}]
            self.state = {p: {"step": 1, "exp_avg": Tensor(), "more": [Tensor()]} for p in parameters}

    graph = {}

    class Node:
        """An autograd node: what it saved, and the next nodes."""

        def __init__(self, saved, *following):
            graph[id(self)] = (types.SimpleNamespace(data=saved), [(node, 0) for node in following])

        _raw_saved_self = property(lambda self: graph[id(self)][0])
        next_functions = property(lambda self: graph[id(self)][1])

    Tensor.__module__, Module.__module__ = "torch", "torch.nn.modules.module"
    torch.Tensor, torch.UntypedStorage, torch.sparse_coo = Tensor, Storage, "sparse"
    torch.nn = types.SimpleNamespace(Parameter=Parameter, Module=Module)
    torch.optim = types.SimpleNamespace(Optimizer=Optimizer)
    torch.Node = Node
    torch._C.TensorBase = TensorBase
    torch._C._data_address = lambda tensor: of(tensor)["storage"].address
    torch._C._autograd = types.SimpleNamespace(SavedTensor=types.SimpleNamespace(data=None, unpack_hook=None))
