import torch

torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python")
try:
    train()
except torch.OutOfMemoryError:
    # The traceback keeps the failed call's tensors until this block ends: dump here to see
    # them, and retry with a smaller batch only after it.
    torch.cuda.memory._dump_snapshot("caught-oom.pickle")
