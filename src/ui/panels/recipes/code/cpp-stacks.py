import torch

torch.cuda.memory._record_memory_history(max_entries=100_000, stacks="all")
for batch in batches[:3]:
    train_step(batch)
torch.cuda.memory._dump_snapshot("cpp-stacks.pickle")  # slow: it looks up each C++ frame
