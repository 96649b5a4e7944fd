import torch

torch.cuda.memory._record_memory_history(
    max_entries=1_000_000, stacks="python", record_pinned_host_memory=True
)
train()
torch.cuda.memory._dump_snapshot("pinned.pickle")
