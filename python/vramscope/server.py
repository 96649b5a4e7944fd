"""Serves the page on loopback, with only the named files.

    http://127.0.0.1:7878/5f0c…/?snapshot=files/0/snapshot.pickle
                          token: unknown to other users of this machine; the cookie is needed too

For a folder, the page reads a list of the files that it had when the program started:

    http://127.0.0.1:7878/5f0c…/?ranks=ranks.json

Requests for another host are refused: a web page elsewhere could point its host name here. The rules, and the words of
refusals, are those of the command line's server in src/cli/serve; both are tested with fixtures/server-cases.json.
"""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import stat
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import TCPServer, ThreadingMixIn
from typing import Optional, Sequence, Union
from urllib.parse import quote

from .doors import Doors
from .page_files import page_files
from .source_files import SourceFiles

LOOPBACK = "127.0.0.1"
HOSTS = re.compile(r"^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$", re.IGNORECASE)
DEFAULT_PORT = 7878
MOST_PORTS = 20
RANK_LIST = "ranks.json"
SOURCE_LIST = "source.json"
PIECE_BYTES = 1 << 20
# Seconds before the next attempt to accept a connection, after one failed.
BACK_OFF_S = 0.1
# Seconds that a connection may take to send its request; each has a thread.
REQUEST_S = 20
# Says the same to a person who opens the address.
OPENED_BEFORE_PAGE = "opened-before.html"
OPENED_BEFORE = "This address works in one browser: the one that opened it first. Run vramscope again for a new one."

# Origins of notebooks on this machine.
NOTEBOOKS = "http://127.0.0.1:* http://localhost:* vscode-webview:"


class SnapshotServer:
    """Serves from its creation until `close()`, in its own threads.

    files: the snapshots; links are followed now, not later.
    port: the wanted port, or the next free one if it is in use; 0 for any.
    are_ranks: the files belong to one job, and one address shows them together.
    is_framed: notebooks on this machine may show the page in a frame.
    source: the program's files, whose text the page may show.
    """

    def __init__(self, files: Sequence[Union[str, Path]], port: int = DEFAULT_PORT, are_ranks: bool = False, is_framed: bool = False, source: Optional[SourceFiles] = None):
        self._token = secrets.token_hex(16)
        # Browsers give a page in a notebook's frame no cookie; its address is on no command line.
        self.doors = None if is_framed else Doors(self._token)
        self.files = [Path(file).resolve(strict=True) for file in files]
        self.page = page_files()
        self.frame_ancestors = NOTEBOOKS if is_framed else "'none'"
        self._server = _listen(self, port)
        self.port = self._server.server_address[1]
        root = f"http://{LOOPBACK}:{self.port}/{self._token}/"
        urls = [f"files/{i}/{quote(os.fsencode(Path(file).name), safe='')}" for i, file in enumerate(files)]
        sources = [] if source is None else source.paths
        self.files += [source.above / path for path in sources]
        source_urls = [f"files/{len(files) + i}/{quote(os.fsencode(Path(path).name), safe='')}" for i, path in enumerate(sources)]
        listed = [{"path": os.fsencode(file).decode(errors="replace"), "url": url} for file, url in zip(files, urls)]
        self.lists = {}
        if are_ranks:
            self.lists[RANK_LIST] = json.dumps({"files": listed}).encode()
        if source is not None:
            named = [{"path": os.fsencode(path).decode(errors="replace"), "url": url} for path, url in zip(sources, source_urls)]
            self.lists[SOURCE_LIST] = json.dumps({"above": source.above.as_posix(), "files": named}).encode()
        shown = "" if source is None else f"&source={SOURCE_LIST}"
        #: One per file, in order; one for all ranks; or the bare page if there are no files.
        self.addresses = [f"{root}?ranks={RANK_LIST}"] if are_ranks else [f"{root}?snapshot={url}{shown}" for url in urls] or [root]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="vramscope", daemon=True)
        self._thread.start()

    def entrance_file(self, address: str) -> Path:
        """A file, readable by this user only, that leads a browser to `address` once: see `Doors`."""
        return self.doors.entrance_file(f"http://{LOOPBACK}:{self.port}", address)

    def close(self) -> None:
        if self.doors is not None:
            self.doors.close()
        self._server.shutdown()
        self._server.server_close()

    def inside(self, path: str) -> Optional[str]:
        """The part of `path` after the token; None without the token."""
        start, token, name = (path.split("/", 2) + ["", ""])[:3]
        return name if start == "" and path.count("/") >= 2 and secrets.compare_digest(token.encode(), self._token.encode()) else None


class _Listener(ThreadingMixIn, TCPServer):
    daemon_threads = True
    # On Windows this would let another program take the same port.
    allow_reuse_address = os.name != "nt"
    # Browsers open several connections at once; the default lets only five wait.
    request_queue_size = 128
    owner: SnapshotServer

    def get_request(self):
        try:
            return super().get_request()
        except OSError as error:
            # Without this, a process that has reached its limit of open files would retry the same connection in a busy loop.
            if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                time.sleep(BACK_OFF_S)
            raise

    def handle_error(self, request, client_address):
        """A reader that leaves early is not an error; nothing about a request is printed."""


def _listen(owner: SnapshotServer, wanted: int) -> _Listener:
    for port in range(wanted, min(wanted + MOST_PORTS, 65536)):
        try:
            listener = _Listener((LOOPBACK, port), _Handler)
        except OSError:
            continue
        listener.owner = owner
        return listener
    raise OSError(f"The ports {wanted} to {wanted + MOST_PORTS - 1} are all in use.")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = REQUEST_S

    def do_GET(self):
        self._answer()

    def do_HEAD(self):
        self._answer()

    def __getattr__(self, name):
        # Any other method: otherwise the base class would answer 501 with its own page.
        if name.startswith("do_"):
            return lambda: self._refuse(405, "This server only serves files.")
        raise AttributeError(name)

    def send_error(self, code, message=None, explain=None):
        """For invalid requests: as short as any other refusal."""
        self._refuse(code, "Not a request that this server knows.")

    def version_string(self):
        return "vramscope"

    def log_message(self, *args):
        """Addresses contain the token, so they are not printed."""

    def _answer(self):
        owner = self.server.owner
        if not HOSTS.match(self.headers.get("Host", "")):
            return self._refuse(403, "Not this host.")
        # Then it is never ambiguous where one request ends and the next begins.
        if self.headers.get("Content-Length", "0") != "0" or "Transfer-Encoding" in self.headers:
            return self._refuse(400, "A request for a file has no body.")
        # As sent: `self.path` merges slashes at its beginning into one.
        path = re.sub(r"[?#].*$", "", self.requestline.split()[1], flags=re.DOTALL)
        doors = owner.doors
        target = doors.take(path) if doors is not None and self.command == "GET" else None
        if target is not None:
            return self._head(302, {"Location": target, "Set-Cookie": doors.cookie, "Content-Length": "0"})
        name = owner.inside(path)
        if name is None:
            return self._refuse(404, "Nothing here.")
        self._cookie = None
        if doors is not None and not doors.is_inside(self.headers.get("Cookie", "")):
            is_page = name == "" and self.command == "GET"
            if not is_page or not doors.open_once():
                told = owner.page.get(OPENED_BEFORE_PAGE) if is_page else None
                if told is None:
                    return self._refuse(403, OPENED_BEFORE)
                return self._send_page(told, 403, "default-src 'none'; sandbox; style-src 'unsafe-inline'")
            self._cookie = doors.cookie
        snapshot = re.match(r"^files/([0-9]{1,6})/", name)
        if snapshot is not None:
            number = int(snapshot[1])
            if number >= len(owner.files):
                return self._refuse(404, "No such file was named.")
            return self._send_file(owner.files[number])
        if name in owner.lists:
            return self._send(owner.lists[name], "application/json")
        found = owner.page.get(name or "index.html")
        if found is None:
            return self._refuse(404, "Nothing here.")
        self._send_page(found)

    def _send_page(self, found, status=200, limits="base-uri 'none'; form-action 'none'"):
        file = open_regular(found.path)
        if file is None:
            return self._refuse(404, "A file of the page is gone.")
        with file:
            content = file.read()
        # The page's own meta element limits what it loads; only a header can say who may frame it.
        ancestors = self.server.owner.frame_ancestors
        self._send(content, found.type, self._cookie, f"{limits}; frame-ancestors {ancestors}", status)

    def _send(self, content, kind, cookie=None, policy=None, status=200):
        headers = {"Content-Type": kind, "Content-Length": str(len(content))}
        self._head(status, {**headers, "Set-Cookie": cookie} if cookie else headers, policy)
        if self.command != "HEAD":
            self.wfile.write(content)

    def _send_file(self, path):
        """Sends a file up to the announced length; if it shrinks meanwhile, the connection breaks off."""
        file = open_regular(path)
        if file is None:
            return self._refuse(404, "The file is gone or cannot be read.")
        with file:
            status = os.fstat(file.fileno())
            left = status.st_size
            # The page asks for it again and again, to say when the file has changed.
            etag = f'"{left}-{status.st_mtime_ns}"'
            self._head(200, {"Content-Type": "application/octet-stream", "Content-Length": str(left), "ETag": etag})
            while left > 0 and self.command != "HEAD":
                piece = file.read(min(PIECE_BYTES, left))
                if not piece:
                    self.close_connection = True
                    return
                self.wfile.write(piece)
                left -= len(piece)

    def _refuse(self, status, words):
        text = f"{words}\n".encode()
        # The body of a refused request is not read, so the next request would begin inside it.
        self.close_connection = True
        self._head(status, {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(text)), "Connection": "close"})
        if self.command != "HEAD":
            self.wfile.write(text)

    def _head(self, status, headers, policy=None):
        """The head of an answer. `policy` is for the page; anything else would show as a blank page."""
        ancestors = self.server.owner.frame_ancestors
        self.send_response(status)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        if ancestors == "'none'":
            self.send_header("X-Frame-Options", "DENY")
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Content-Security-Policy", policy or f"default-src 'none'; sandbox; frame-ancestors {ancestors}")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


def open_regular(path):
    """Opens the file at exactly this path; None if there is none.

    Follows no link and waits for no pipe: anyone who can write to the folder could have put one there since.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    return None


def check_readable(file: Union[str, Path]) -> Optional[str]:
    """Why `file` cannot be served, in a sentence; None if it can."""
    path = Path(file)
    try:
        if path.is_dir():
            return f"{file} cannot be served: it is a folder."
        if not path.exists():
            return f"{file} cannot be served: there is no such file."
        if not path.is_file():
            return f"{file} cannot be served: it is a pipe or a device; save its content to a file first."
        with open(path, "rb"):
            return None
    except OSError as error:
        return f"{file} cannot be served: {error.strerror or error}."
