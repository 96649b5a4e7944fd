"""Runs the recording recipes that the page prints, on a real GPU, and says what each snapshot holds.

    python scripts/try-recipes.py OUT_FOLDER

A recipe is a file of src/ui/recipes/code. What it leaves to its reader (train, model, batches) is
given to it here.
"""

import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

CODE = Path(__file__).resolve().parent.parent / "src/ui/recipes/code"

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

RECIPES = {
    "whole-run.py": (SETUP, ""),
    "on-oom.py": (SETUP + OOM, ""),
    "some-steps.py": (SETUP, ""),
    "with-phases.py": (SETUP, ""),
    "lightning.py": (LIGHTNING, LIGHTNING_RUN),
    "transformers.py": (TRANSFORMERS, "trainer.train()\n"),
}


def main():
    out = Path(sys.argv[1]).resolve()
    for name, (before, after) in RECIPES.items():
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        program = folder / "program.py"
        program.write_text(before + (CODE / name).read_text() + after)
        began = time.time()
        done = subprocess.run(
            [sys.executable, str(program)], cwd=folder, capture_output=True, text=True,
            env={**os.environ, "HF_HUB_OFFLINE": "1"},
        )
        print(f"{name}: exit {done.returncode}, {time.time() - began:.1f} s")
        if done.returncode != 0:
            print(done.stderr[-1500:])
        for path in sorted(folder.glob("*.pickle")):
            snapshot = pickle.loads(path.read_bytes())
            trace = snapshot["device_traces"][0]
            ooms = sum(entry["action"] == "oom" for entry in trace)
            notes = len(snapshot.get("external_annotations", []))
            print(f"  {path.name}: {len(trace)} events, {ooms} OOMs, {notes} annotations")


main()
