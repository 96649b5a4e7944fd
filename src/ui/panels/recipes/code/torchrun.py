# torchrun --nproc-per-node=8 train.py
import os
import torch

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python")
try:
    train()
finally:  # at an OOM too: each rank writes its own file
    torch.cuda.memory._dump_snapshot(f"snapshot-rank{os.environ['RANK']}.pickle")
