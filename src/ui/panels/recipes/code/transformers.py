import torch
from transformers import Trainer, TrainerCallback

class MemorySnapshot(TrainerCallback):
    def on_train_begin(self, args, state, control, **kwargs):
        torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python")

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step == 20:
            torch.cuda.memory._dump_snapshot(f"snapshot-rank{args.process_index}.pickle")
            torch.cuda.memory._record_memory_history(enabled=None)

trainer = Trainer(model=model, args=args, train_dataset=data, callbacks=[MemorySnapshot()])
