import torch

FIRST, LAST = 10, 12  # steady by then, and three steps are enough to see what grows

for step, batch in enumerate(batches):
    if step == FIRST:
        torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python")
    train_step(batch)
    if step == LAST:
        torch.cuda.memory._dump_snapshot("steps.pickle")
        torch.cuda.memory._record_memory_history(enabled=None)
