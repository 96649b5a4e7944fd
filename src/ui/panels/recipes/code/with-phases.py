import torch
from torch.profiler import record_function

torch.cuda.memory._record_memory_history(
    max_entries=1_000_000, stacks="python", global_record_annotations=True
)
for batch in batches:
    with record_function("forward"):
        loss = model(batch).square().mean()
    with record_function("backward"):
        loss.backward()
    with record_function("optimizer"):
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
torch.cuda.memory._dump_snapshot("phases.pickle")
