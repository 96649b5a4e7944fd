import vramscope  # pip install vramscope

with vramscope.record("snapshot.pickle"):  # an OOM also writes snapshot.oom.pickle
    train()
