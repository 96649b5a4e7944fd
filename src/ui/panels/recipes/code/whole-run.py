import torch

# before the model is made
torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python")
train()
torch.cuda.memory._dump_snapshot("snapshot.pickle")
torch.cuda.memory._record_memory_history(enabled=None)
