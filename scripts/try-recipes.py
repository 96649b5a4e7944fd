"""Runs the recording recipes that the page prints, on a real GPU, and says what each snapshot holds.

    python scripts/try-recipes.py OUT_FOLDER

A recipe is a file of src/ui/panels/recipes/code. What it leaves to its reader (train, model, batches) is
given to it here. Those that want a framework, a version or a second machine that is not at hand are
listed as untested. Last, it measures what C++ stacks cost: the dump of one training run with each.
"""

import inspect
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import torch

CODE = Path(__file__).resolve().parent.parent / "src/ui/panels/recipes/code"

SETUP = """
import torch

def make():
    model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(8)]).cuda()
    return model, torch.optim.AdamW(model.parameters())

def train_step(batch):
    loss = model(batch).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)

def train():
    global model, optimizer
    model, optimizer = make()
    for batch in batches:
        train_step(batch)

batches = [torch.randn(256, 1024, device="cuda") for _ in range(16)]
model, optimizer = make()
"""

OOM = """
def train():
    kept = []
    torch.cuda.set_per_process_memory_fraction(0.02)
    try:
        while True:
            kept.append(torch.empty(64 << 20, device="cuda"))
    except torch.cuda.OutOfMemoryError:
        pass
"""

LIGHTNING = """
import lightning as L
import torch

class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1024, 1024)

    def training_step(self, batch, index):
        return self.layer(batch[0]).square().mean()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())
"""
LIGHTNING_RUN = """
data = torch.utils.data.TensorDataset(torch.randn(512, 1024))
trainer.fit(Model(), torch.utils.data.DataLoader(data, batch_size=64))
"""

TRANSFORMERS = """
import torch
from transformers import GPT2Config, GPT2LMHeadModel, TrainingArguments

model = GPT2LMHeadModel(GPT2Config(n_layer=2, n_embd=128, n_head=4, vocab_size=1000))
data = [{"input_ids": ids, "labels": ids} for ids in torch.randint(0, 1000, (256, 64))]
args = TrainingArguments(output_dir="out", max_steps=25, per_device_train_batch_size=8, report_to=[])
"""

# More steps than a file covers, so that there are two files.
PERIODIC = SETUP + "batches = batches * 13\n"

CAUGHT = SETUP + """
def train():
    torch.cuda.set_per_process_memory_fraction(0.02)
    kept = []
    while True:
        kept.append(torch.empty(64 << 20, device="cuda"))
"""

STACKS = """
import sys, time
torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks=sys.argv[1])
for _ in range(20):
    train()
began = time.time()
torch.cuda.memory._dump_snapshot("stacks.pickle")
print(f"{time.time() - began:.2f}")
"""

RECIPES = {
    "whole-run.py": (SETUP, ""),
    "on-oom.py": (SETUP + OOM, ""),
    "caught-oom.py": (CAUGHT, ""),
    "some-steps.py": (SETUP, ""),
    "periodic.py": (PERIODIC, ""),
    "long-run.py": (SETUP, ""),
    "with-phases.py": (SETUP, ""),
    "torchrun.py": (SETUP, ""),
    "compiled.py": (SETUP, ""),
    "cpp-stacks.py": (SETUP, ""),
    "pinned-memory.py": (SETUP, ""),
    "labels.py": (SETUP, ""),
    "package.py": (SETUP, ""),
    "lightning.py": (LIGHTNING, LIGHTNING_RUN),
    "transformers.py": (TRANSFORMERS, "trainer.train()\n"),
}
RECORDER = inspect.signature(torch.cuda.memory._record_memory_history).parameters
NEEDS = {"pinned-memory.py": "record_pinned_host_memory", "long-run.py": "skip_actions"}
LAUNCHERS = {
    "torchrun.py": ["-m", "torch.distributed.run", f"--nproc-per-node={torch.cuda.device_count()}"],
}


def run(folder, program, text, launcher=(), arguments=()):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / program).write_text(text)
    return subprocess.run(
        [sys.executable, *launcher, program, *arguments], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )


def describe(path):
    snapshot = pickle.loads(path.read_bytes())
    trace = max(snapshot["device_traces"], key=len)
    frames = [frame for entry in trace for frame in entry.get("frames", [])]
    counts = {
        "events": len(trace),
        "OOMs": sum(entry["action"] == "oom" for entry in trace),
        "annotations": len(snapshot.get("external_annotations", [])),
        "host events": sum(map(len, snapshot.get("host_traces", []))),
        "C++ frames": sum(frame["filename"] == "??" or frame["name"].startswith("at::") for frame in frames),
        "frames with an FX node": sum("fx_node_op" in frame for frame in frames),
        "free_requested": sum(entry["action"] == "free_requested" for entry in trace),
    }
    size = path.stat().st_size / 2**20
    return f"{size:.1f} MiB, " + ", ".join(f"{count} {name}" for name, count in counts.items() if count)


def main():
    out = Path(sys.argv[1]).resolve()
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}")
    for name, (before, after) in RECIPES.items():
        needed = NEEDS.get(name)
        if needed is not None and needed not in RECORDER:
            print(f"{name}: untested, this version has no {needed}")
            continue
        began = time.time()
        text = before + (CODE / name).read_text() + after
        done = run(out / name, "program.py", text, LAUNCHERS.get(name, ()))
        print(f"{name}: exit {done.returncode}, {time.time() - began:.1f} s")
        if done.returncode != 0:
            print(done.stderr[-1500:])
        for path in sorted((out / name).glob("*.pickle")):
            print(f"  {path.name}: {describe(path)}")
    for stacks in ("python", "all"):
        done = run(out / f"stacks-{stacks}", "program.py", SETUP + STACKS, arguments=[stacks])
        size = (out / f"stacks-{stacks}/stacks.pickle").stat().st_size / 2**20
        print(f'stacks="{stacks}": dumped in {done.stdout.strip()} s, {size:.1f} MiB')
    known = {*RECIPES}
    print("untested:", ", ".join(sorted(path.name for path in CODE.iterdir() if path.name not in known)))


main()
