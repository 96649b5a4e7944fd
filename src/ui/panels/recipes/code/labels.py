import pickle
import time
import torch

notes, weights = [], set()

def label(tensor, kind, name=""):
    tensor = getattr(tensor, "_local_tensor", tensor)  # of a DTensor: this rank's part
    if not isinstance(tensor, torch.Tensor) or not tensor.is_cuda:
        return
    address = tensor.untyped_storage().data_ptr()
    if kind in ("parameter", "buffer"):
        weights.add(address)
    elif address in weights:  # backward saves weights too
        return
    notes.append((tensor.device.index, {
        "action": "annotate", "addr": address, "size": 0, "stream": 0,
        "time_us": time.time_ns() // 1000, "user_metadata": f"{kind}: {name}", "frames": [],
    }))

def label_activation(tensor):
    label(tensor, "activation", str(tuple(tensor.shape)))
    return tensor

torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python")
for name, buffer in model.named_buffers():
    label(buffer, "buffer", name)
for name, parameter in model.named_parameters():
    label(parameter, "parameter", name)
    if parameter.requires_grad:
        parameter.register_post_accumulate_grad_hook(
            lambda p, name=name: label(p.grad, "gradient", name)
        )

with torch.autograd.graph.saved_tensors_hooks(label_activation, lambda tensor: tensor):
    for step, batch in enumerate(batches):
        train_step(batch)
        if step == 0:  # the optimizer makes its state in its first step
            names = {parameter: name for name, parameter in model.named_parameters()}
            for parameter, state in optimizer.state.items():
                for key, value in state.items():
                    label(value, "optimizer state", f"{key} of {names[parameter]}")

snapshot = torch.cuda.memory._snapshot()
for device, note in notes:
    snapshot["device_traces"][device].append(note)
for trace in snapshot["device_traces"]:
    trace.sort(key=lambda event: event["time_us"])
with open("labels.pickle", "wb") as file:
    pickle.dump(snapshot, file)
