import torch
import torch.fx.experimental._config as fx_config

fx_config.enrich_profiler_metadata = True  # before the first call compiles the model
model = torch.compile(model, backend="aot_eager")
torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python")
for batch in batches:
    train_step(batch)
torch.cuda.memory._dump_snapshot("compiled.pickle", augment_with_fx_traces=True)
