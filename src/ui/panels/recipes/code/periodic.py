import torch

EVERY = 100  # steps a file

def record():
    torch.cuda.memory._record_memory_history(
        max_entries=200_000, stacks="python", clear_history=True
    )

record()
for step, batch in enumerate(batches, start=1):
    train_step(batch)
    if step % EVERY == 0:
        torch.cuda.memory._dump_snapshot(f"step{step:06d}.pickle")
        record()  # the next file starts where this one ends
