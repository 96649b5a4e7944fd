"""`vramscope FILE…` and `python -m vramscope FILE…`: the page in the browser, with the files."""

from __future__ import annotations

import argparse
import getpass
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import webbrowser

from .page_files import built
from .rank_files import rank_files
from .server import DEFAULT_PORT, SnapshotServer, check_readable
from .source_files import source_files
from .terminal import printable
from .version import __version__

OLDEST_NODE = (20, 19)
# Commands of the command line, which needs Node, and where the page offers the same.
COMMANDS = {
    "analyze": "Open the file with `vramscope FILE`: Findings, on the right, has the same.",
    "compare": "Open one file with `vramscope FILE` and drop the other one on the page.",
    "export": "Open the file with `vramscope FILE`: Export, above the views, writes the same files.",
    "mcp": None,
    "ranks": "Open the folder with `vramscope FOLDER`: the page compares its ranks.",
    "report": "Open the file with `vramscope FILE`: Export writes the report.",
    "stats": "Open the file with `vramscope FILE`: Summary has the same figures.",
    "summarize": None,
    "whatif": "Open the file with `vramscope FILE`: What if has the same.",
}
FINE, BAD_USAGE, UNREADABLE = 0, 2, 3


def main(arguments=None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments and arguments[0] in COMMANDS and not os.path.exists(arguments[0]):
        return run_node(arguments)
    options = parser().parse_args(arguments)
    are_ranks = any(os.path.isdir(file) for file in options.files)
    try:
        files = rank_files(options.files) if are_ranks else options.files
    except OSError as error:
        print(f"vramscope: {printable(str(error.filename))} cannot be read: {error.strerror}.", file=sys.stderr)
        return UNREADABLE
    if are_ranks and not files:
        print(f"vramscope: no snapshots and no summaries in {printable(', '.join(options.files))}.", file=sys.stderr)
        return UNREADABLE
    for file in files:
        problem = check_readable(file)
        if problem is not None:
            hint = "" if re.search(r"[./\\]", file) else f" Commands are {', '.join(COMMANDS)}."
            print(f"vramscope: {printable(problem)}{hint}", file=sys.stderr)
            return UNREADABLE
    try:
        source = None if options.source is None else source_files(options.source)
    except OSError as error:
        print(f"vramscope: {printable(options.source)} cannot be shown as source: {error.strerror}.", file=sys.stderr)
        return UNREADABLE
    if source is not None and not source.is_complete:
        print(f"vramscope: {printable(options.source)} has more than {len(source.paths)} files; the rest are ignored", file=sys.stderr)
    try:
        server = SnapshotServer(files, options.port, are_ranks, source=source)
    except OSError as error:
        print(f"vramscope: {error}", file=sys.stderr)
        return UNREADABLE
    announce(server, options)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        server.close()
    return FINE


def parser() -> argparse.ArgumentParser:
    about = "Opens PyTorch GPU memory snapshots in the browser: where every byte went, and why it ran out."
    more = f"With Node {OLDEST_NODE[0]}.{OLDEST_NODE[1]} or later: vramscope {'|'.join(COMMANDS)} … (vramscope COMMAND --help)"
    made = argparse.ArgumentParser(prog="vramscope", description=about, epilog=more)
    made.add_argument("files", nargs="*", metavar="FILE", help="snapshots to open, or a folder with the ranks of a job; without any, the page has samples")
    made.add_argument("--port", type=port_number, default=DEFAULT_PORT, help="port on this machine; if it is taken, the next free one (default %(default)s)")
    made.add_argument("--no-open", dest="opens", action="store_false", help="only print the address")
    made.add_argument("--source", metavar="FOLDER", help="the program's code: its lines are shown with their memory, and open in your editor")
    made.add_argument("--version", action="version", version=__version__)
    return made


def port_number(text: str) -> int:
    if text.isdigit() and int(text) < 65536:
        return int(text)
    raise argparse.ArgumentTypeError("enter a port from 0 (any free port) to 65535")


def announce(server: SnapshotServer, options) -> None:
    if options.port not in (0, server.port):
        print(f"vramscope: port {options.port} is in use; using {server.port} instead", file=sys.stderr)
    for i, address in enumerate(server.addresses):
        print(f"{printable(options.files[i])}\n  {address}" if options.files else address)
    if options.opens and not (has_screen() and webbrowser.open(server.entrance_file(server.addresses[0]).as_uri())):
        print("No browser found on this machine. On your own machine, forward the port and open the address:")
        print(f"  ssh -N -L {server.port}:127.0.0.1:{server.port} {getpass.getuser()}@{socket.gethostname()}")
    print("Only this machine can reach this address. Press Ctrl+C to stop.", flush=True)


def has_screen(platform=sys.platform, env=os.environ) -> bool:
    """False if the user is on another machine: no display, or an SSH session."""
    if env.get("SSH_CONNECTION"):
        return False
    return platform in ("darwin", "win32") or bool(env.get("DISPLAY") or env.get("WAYLAND_DISPLAY"))


def run_node(arguments) -> int:
    """Runs the command line of the same version, which is part of this package and needs Node."""
    node = shutil.which("node")
    version = node_version(node)
    if node is None or version is None or version < OLDEST_NODE:
        found = "is not here" if version is None else f"is {'.'.join(map(str, version))} here"
        wanted = ".".join(map(str, OLDEST_NODE))
        print(f"vramscope {arguments[0]} needs Node {wanted} or later, which {found} (https://nodejs.org).", file=sys.stderr)
        hint = COMMANDS[arguments[0]]
        if hint is not None:
            print(f"Without it: {hint}", file=sys.stderr)
        return BAD_USAGE
    program = [node, str(built("dist-cli") / "vramscope.mjs"), *arguments]
    if os.name == "posix":
        sys.stdout.flush()
        os.execv(node, program)
    return subprocess.run(program).returncode


def node_version(node):
    """(20, 19), or None without Node."""
    if node is None:
        return None
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.match(r"v(\d+)\.(\d+)", said)
    return (int(match[1]), int(match[2])) if match else None


if __name__ == "__main__":
    sys.exit(main())
