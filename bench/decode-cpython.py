"""Reads a file with CPython's own unpickler and prints the time."""

import json
import pickle
import sys
import time

start = time.perf_counter()
with open(sys.argv[1], "rb") as file:
    snapshot = pickle.load(file)
decode_ms = (time.perf_counter() - start) * 1000
events = sum(len(trace) for trace in snapshot["device_traces"])
print(json.dumps({"decodeMs": decode_ms, "events": events}))
