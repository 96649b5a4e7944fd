import os
import torch

RANK = os.environ.get("RANK", "0")

def dump_on_oom(device, alloc, device_alloc, device_free):
    torch.cuda.memory._dump_snapshot(f"oom-rank{RANK}.pickle")

torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python")
torch._C._cuda_attach_out_of_memory_observer(dump_on_oom)
train()
