"""What CPython's own unpickler makes of a pickle, as the figures that a snapshot has.

Reads pickles from stdin, each after its length in four bytes, and writes a line of JSON for each.
Runs nothing: every class and function that a pickle names is refused.
"""

import io
import json
import pickle
import resource
import struct
import sys

TOP_KEYS = ("segments", "device_traces", "traces", "host_segments", "host_traces")


class Unpickler(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError("it names code")

    def persistent_load(self, pid):
        raise pickle.UnpicklingError("it names an object elsewhere")


def number(value):
    """'512' for 512, 512.0 and True; its repr for what is no whole number."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(int(value)) if isinstance(value, int) else repr(value)


def address(value):
    text = number(value)
    try:
        return str(int(text) & (2**64 - 1))
    except ValueError:
        return text


def find_top(value, depth=3):
    if isinstance(value, (list, tuple)):
        if depth == 3 and all(isinstance(item, dict) and "blocks" in item for item in value):
            return {"segments": value}
        return None
    if not isinstance(value, dict):
        return None
    if any(isinstance(value.get(key), (list, tuple)) for key in TOP_KEYS):
        return value
    if depth == 0:
        return None
    for item in value.values():
        found = find_top(item, depth - 1) if isinstance(item, dict) else None
        if found is not None:
            return found
    return None


def event(entry):
    return [
        str(entry.get("action")),
        address(entry.get("addr", 0)),
        number(entry.get("size")),
        address(entry.get("stream", 0)),
        number(entry.get("time_us")) if "time_us" in entry else "",
        len(entry["frames"]) if "frames" in entry else -1,
        str(entry.get("category") or ""),
    ]


def segment(entry):
    blocks = []
    at = int(entry.get("address", 0))
    for block in entry.get("blocks", ()):
        at = block.get("address", at)
        state = str(block["state"]).replace("awaiting", "pending")
        blocks.append([address(at), number(block["size"]), state])
        at += block["size"]
    return [
        number(entry.get("device", 0)),
        address(entry.get("address", 0)),
        number(entry["total_size"]),
        blocks,
    ]


def figures(value):
    top = find_top(value)
    if top is None:
        return {"none": True}
    traces = top.get("device_traces", top.get("traces", ()))
    return {
        "traces": [[event(entry) for entry in trace] for trace in traces],
        "segments": [segment(entry) for entry in top.get("segments", ())],
    }


def answer(data):
    try:
        value = Unpickler(io.BytesIO(data)).load()
    except BaseException as error:
        return {"refused": repr(error)[:100]}
    try:
        return figures(value)
    except Exception as error:
        # A value of a kind that has no such figure: what is opened of it needs a warning.
        return {"odd": repr(error)[:100]}


def main():
    resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
    sys.setrecursionlimit(3000)
    stdin = sys.stdin.buffer
    while len(head := stdin.read(4)) == 4:
        data = stdin.read(struct.unpack("<I", head)[0])
        print(json.dumps(answer(data)), flush=True)


main()
