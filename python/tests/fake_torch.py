"""A stand-in for PyTorch that notes how it is told to record."""

import types

# What _record_memory_history took, from version to version.
SIGNATURES = {
    "2.1.0": "enabled='all', context='all', stacks='all', max_entries=2**63, device=None",
    "2.6.0": "enabled='all', context='all', stacks='all', max_entries=2**63, device=None, clear_history=False",
    "2.9.0": "enabled='all', context='all', stacks='all', max_entries=2**63, device=None, clear_history=False, compile_context=False, global_record_annotations=False",
    "2.14.0": "enabled='all', context='all', stacks='all', max_entries=2**63, device=None, clear_history=False, compile_context=False, global_record_annotations=False, skip_actions=None, record_pinned_host_memory=False, record_cuda=True",
}


def fake_torch(version="2.14.0", has_gpu=True):
    """A PyTorch that notes what it is asked for. As the real one, it dies where CUDA was not started first."""
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
    torch.cuda = types.SimpleNamespace(is_available=lambda: has_gpu, init=init, memory=memory)
    torch._C = types.SimpleNamespace(_cuda_isHistoryEnabled=is_history_enabled, _cuda_attach_out_of_memory_observer=attach)
    return torch
