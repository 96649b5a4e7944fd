"""The server sends only the page and the named files, and only to this machine and whoever knows the token."""

import html
import http.client
import json
import os
import re
import socket
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from urllib.parse import urlsplit

from vramscope.rank_files import rank_files
from vramscope.server import SnapshotServer, check_readable
from vramscope.source_files import source_files

# The answers of both servers: src/cli/serve/serve.test.ts reads the same table.
CASES = json.loads((Path(__file__).resolve().parents[2] / "fixtures/server-cases.json").read_text(encoding="utf-8"))["cases"]


class ServerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.named = self.folder / "my run.pickle"
        self.named.write_bytes(b"0123456789" * 20)
        (self.folder / "secret.pickle").write_bytes(b"secret")
        self.enter(SnapshotServer([self.named], port=0))

    def enter(self, server):
        """Acts like the browser that opens the printed address: from then on it has the cookie."""
        self.addCleanup(server.close)
        self.server, self.base, self.cookie = server, urlsplit(server.addresses[0]).path, ""
        self.cookie = self.ask(self.base)[1].get("set-cookie", "").split(";")[0]

    def ask(self, path, headers=(), method="GET", sent=""):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=10)
        self.addCleanup(connection.close)
        connection.putrequest(method, path, skip_host=True)
        for name, value in {"Host": f"127.0.0.1:{self.server.port}", "Cookie": self.cookie, **dict(headers)}.items():
            connection.putheader(name, value)
        connection.endheaders(sent.encode() or None)
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()

    def test_gives_out_the_page_with_its_policy(self):
        status, headers, body = self.ask(self.base)
        self.assertEqual((status, headers["content-type"]), (200, "text/html; charset=utf-8"))
        self.assertIn(b'id="root"', body)
        self.assertIn("frame-ancestors 'none'", headers["content-security-policy"])
        self.assertIn("""<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self';""", html.unescape(body.decode()))
        self.assertEqual((headers["x-content-type-options"], headers["x-frame-options"]), ("nosniff", "DENY"))
        self.assertEqual(self.ask(self.base, method="HEAD")[2], b"")

    def test_gives_out_the_named_file(self):
        path = f"{self.base}files/0/my%20run.pickle"
        status, headers, body = self.ask(path)
        self.assertEqual((status, body), (200, b"0123456789" * 20))
        self.assertIn("sandbox", headers["content-security-policy"])
        status, headers, body = self.ask(path, method="HEAD")
        self.assertEqual((status, body, headers["content-length"]), (200, b"", "200"))

    def test_names_the_content_of_the_file(self):
        """The page looks at the name again and again, to say when the file has changed."""
        def tag():
            return self.ask(f"{self.base}files/0/my%20run.pickle", method="HEAD")[1]["etag"]
        before = tag()
        self.assertRegex(before, '^"[^"]+"$')
        self.assertEqual(tag(), before)
        os.utime(self.named, (1e9, 1e9))
        self.assertNotEqual(tag(), before)

    def test_gives_out_nothing_else(self):
        for path in ("/", "/files/0/x", "/0" * 16 + "/", self.base + "../secret.pickle", self.base + "files/1/x", self.base + "files/0",
                     self.base + "sw.js", self.base + "%2e%2e/secret.pickle", self.base + "files/0/../../secret", "*"):
            status, _, body = self.ask(path)
            self.assertTrue(status == 404 or (status == 200 and path.startswith(self.base + "files/0/")), path)
            self.assertNotIn(b"secret", body)

    def test_tells_a_second_browser_what_to_do(self):
        status, headers, body = self.ask(self.base, {"Cookie": ""})
        self.assertEqual((status, headers["content-type"]), (403, "text/html; charset=utf-8"))
        self.assertIn("default-src 'none'; sandbox; style-src", headers["content-security-policy"])
        self.assertIn(b"works in one browser", body)
        status, headers, _ = self.ask(f"{self.base}files/0/my%20run.pickle", {"Cookie": ""})
        self.assertEqual((status, headers["content-type"]), (403, "text/plain; charset=utf-8"))

    def test_refuses_other_hosts_and_methods(self):
        for host in ("evil.example", "127.0.0.1.evil.example", "localhost:1.evil", "", "localhost:80:80"):
            self.assertEqual(self.ask(self.base, {"Host": host})[0], 403, host)
        for host in ("localhost", f"LOCALHOST:{self.server.port}", "[::1]:80"):
            self.assertEqual(self.ask(self.base, {"Host": host})[0], 200, host)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
            self.assertEqual(self.ask(self.base, method=method)[0], 405, method)

    def test_what_is_no_request_gets_no_page(self):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=10) as connection:
            connection.sendall(b"<b>hello\r\n\r\n")
            self.assertNotIn(b"<b>", connection.recv(4096))
        self.assertEqual(self.ask(self.base)[0], 200)

    @unittest.skipIf(os.name == "nt", "Windows has no such links without rights of an administrator")
    def test_follows_no_link_that_is_put_in_a_files_place(self):
        self.named.unlink()
        self.named.symlink_to(self.folder / "secret.pickle")
        self.assertEqual(self.ask(f"{self.base}files/0/x")[0], 404)
        self.named.unlink()
        os.mkfifo(self.named)
        self.assertEqual(self.ask(f"{self.base}files/0/x")[0], 404)

    def test_answers_as_the_server_of_the_command_line(self):
        self.named.write_bytes(b"0123456789")
        for case in CASES:
            def filled(text):
                return text.replace("{base}", self.base).replace("{port}", str(self.server.port))

            headers = {name: filled(value) for name, value in case.get("headers", {}).items()}
            if case.get("cookie") is False:
                headers.setdefault("Cookie", "")
            with self.subTest(case["name"]):
                status, _, body = self.ask(filled(case["path"]), headers, case.get("method", "GET"), case.get("sent", ""))
                self.assertEqual(status, case["status"])
                self.assertEqual(body.decode("latin-1"), case.get("body", body.decode("latin-1")))
                self.assertNotIn(b"secret", body)

    def test_a_file_that_only_its_user_can_read_leads_in_once(self):
        file = self.server.entrance_file(self.server.addresses[0])
        if os.name == "posix":
            self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        entrance = urlsplit(re.search(r'url=(http[^"]+)"', file.read_text())[1]).path
        self.assertNotIn(self.base.strip("/"), entrance)
        self.cookie = ""
        self.assertEqual(self.ask(entrance, method="HEAD")[0], 404)
        status, headers, _ = self.ask(entrance)
        self.assertEqual((status, headers["location"]), (302, self.server.addresses[0]))
        self.assertIn("HttpOnly; SameSite=Lax", headers["set-cookie"])
        self.assertFalse(file.exists())
        self.assertEqual(self.ask(entrance)[0], 404)

    @unittest.skipIf(os.name == "nt", "Windows has no limit of this kind")
    def test_connections_that_ask_for_nothing_cost_no_time(self):
        program = "import resource, sys, time; resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40)); from vramscope.server import SnapshotServer; s = SnapshotServer([], port=0); print(s.port, flush=True); sys.stdin.read(); print(time.process_time())"
        child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        port = int(child.stdout.readline())
        held = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(100)]
        # It may run for this long by the clock; what is measured is its processor time.
        with self.assertRaises(subprocess.TimeoutExpired):
            child.wait(timeout=3)
        said, _ = child.communicate("", timeout=20)
        for connection in held:
            connection.close()
        self.assertLess(float(said), 1.5)

    @unittest.skipIf(os.name == "nt", "Names are text there")
    def test_a_name_that_is_no_text_is_served(self):
        odd = os.fsdecode(os.fsencode(self.folder) + b"/\xff.pickle")
        Path(odd).write_bytes(b"bytes")
        self.enter(SnapshotServer([odd], port=0, are_ranks=True))
        (listed,) = json.loads(self.ask(self.base + "ranks.json")[2])["files"]
        self.assertEqual(self.ask(self.base + listed["url"])[2], b"bytes")

    def test_takes_the_next_port_where_one_is_in_use(self):
        other = SnapshotServer([], port=self.server.port)
        self.addCleanup(other.close)
        self.assertNotEqual(other.port, self.server.port)
        self.assertNotEqual(urlsplit(other.addresses[0]).path, self.base)

    def test_a_notebooks_frame_is_allowed_only_where_it_was_asked_for(self):
        self.enter(SnapshotServer([self.named], port=0, is_framed=True))
        _, headers, _ = self.ask(self.base)
        self.assertNotIn("x-frame-options", headers)
        self.assertIn("frame-ancestors http://127.0.0.1:*", headers["content-security-policy"])

    def test_names_the_files_of_a_folder_in_a_list(self):
        self.assertEqual(self.ask(self.base + "ranks.json")[0], 404)
        for name in ("job/rank0.pickle", "job/node1/rank1.pickle.gz", "job/.hidden/rank2.pickle", "job/notes.txt", "job/rank0.log.gz", "job/.rank3.pickle", "job/x.vramscope.json"):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(name.encode())
        (self.folder / "job/circle").symlink_to(self.folder / "job")
        (self.folder / "job/everything").symlink_to("/")
        (self.folder / "job/nowhere.pickle").symlink_to(self.folder / "nothing")
        (self.folder / "job/rank4.pickle").symlink_to(self.folder / "job/rank0.pickle")
        (self.folder / "job/rank5.pickle").symlink_to(self.folder / "secret.pickle")
        job = str(self.folder / "job")
        files = rank_files([job])
        self.assertEqual([os.path.relpath(file, job) for file in files], [os.path.join("node1", "rank1.pickle.gz"), "rank0.pickle", "x.vramscope.json", "rank5.pickle"])
        self.enter(SnapshotServer(files, port=0, are_ranks=True))
        (address,) = self.server.addresses
        self.assertEqual(urlsplit(address).query, "ranks=ranks.json")
        status, headers, body = self.ask(self.base + "ranks.json")
        self.assertEqual((status, headers["content-type"]), (200, "application/json"))
        listed = json.loads(body)["files"]
        self.assertEqual([entry["path"] for entry in listed], files)
        self.assertEqual(self.ask(self.base + listed[1]["url"])[2], b"job/rank0.pickle")

    def test_lists_the_python_files_of_the_program_and_gives_out_these(self):
        program = self.folder / "run"
        for inner in ("models", ".git", "venv/lib", "__pycache__"):
            (program / inner).mkdir(parents=True)
            (program / inner / "gpt.py").write_text(f"# in {inner}")
        (program / "venv" / "pyvenv.cfg").write_text("")
        (program / "train.py").write_text("train()")
        (program / "key.pem").write_text("secret")
        os.symlink(self.folder / "secret.pickle", program / "link.py")
        server = SnapshotServer([self.named], port=0, source=source_files(str(program)))
        self.enter(server)
        self.assertTrue(server.addresses[0].endswith("&source=source.json"))
        listed = json.loads(self.ask(f"{self.base}source.json")[2])
        self.assertEqual(listed["above"], self.folder.resolve().as_posix())
        urls = {file["path"]: file["url"] for file in listed["files"]}
        self.assertEqual(sorted(urls), ["run/models/gpt.py", "run/train.py"])
        self.assertEqual(self.ask(self.base + urls["run/train.py"])[2], b"train()")
        self.assertEqual(self.ask(f"{self.base}files/3/link.py")[0], 404)
        with self.assertRaises(OSError):
            source_files(str(self.named))

    def test_says_what_cannot_be_served(self):
        self.assertIn("folder", check_readable(self.folder))
        self.assertIn("no such file", check_readable(self.folder / "x"))
        self.assertIsNone(check_readable(self.named))


if __name__ == "__main__":
    unittest.main()
