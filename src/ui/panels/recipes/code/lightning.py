import lightning as L
import torch

class MemorySnapshot(L.Callback):
    def setup(self, trainer, pl_module, stage):
        torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python")

    def dump(self, trainer):
        torch.cuda.memory._dump_snapshot(f"snapshot-rank{trainer.global_rank}.pickle")
        torch.cuda.memory._record_memory_history(enabled=None)

    def on_fit_end(self, trainer, pl_module):
        self.dump(trainer)

    def on_exception(self, trainer, pl_module, exception):
        self.dump(trainer)

trainer = L.Trainer(max_steps=50, callbacks=[MemorySnapshot()])
