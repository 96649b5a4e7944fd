"""The server gives out the page and the named files, to this machine and who knows the token, and nothing else."""

import html
import http.client
import json
import os
import socket
import tempfile
import unittest
from pathlib import Path
from urllib.parse import urlsplit

from vramscope.rank_files import rank_files
from vramscope.server import SnapshotServer, byte_range, check_readable


class RangeTest(unittest.TestCase):
    def test_a_range_is_what_the_header_says(self):
        self.assertEqual(byte_range("bytes=0-99", 1000), (0, 100))
        self.assertEqual(byte_range("bytes=990-", 1000), (990, 1000))
        self.assertEqual(byte_range("bytes=-5", 1000), (995, 1000))
        self.assertEqual(byte_range("bytes=10-99999", 1000), (10, 1000))
        self.assertEqual(byte_range("bytes=1000-", 1000), "unsatisfiable")
        self.assertEqual(byte_range("bytes=-0", 1000), "unsatisfiable")
        for header in (None, "", "bytes=-", "bytes=5-2", "bytes=0-1,5-6", "bytes=a-b", "bytes=0-1\n", "bytes=٣-"):
            self.assertIsNone(byte_range(header, 1000))


class ServerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.named = self.folder / "my run.pickle"
        self.named.write_bytes(bytes(range(200)))
        (self.folder / "secret.pickle").write_bytes(b"secret")
        self.server = SnapshotServer([self.named], port=0)
        self.addCleanup(self.server.close)
        self.base = urlsplit(self.server.addresses[0]).path

    def ask(self, path, headers=(), method="GET"):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=10)
        self.addCleanup(connection.close)
        connection.putrequest(method, path, skip_host=True)
        for name, value in {"Host": f"127.0.0.1:{self.server.port}", **dict(headers)}.items():
            connection.putheader(name, value)
        connection.endheaders()
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

    def test_gives_out_the_named_file_whole_and_by_ranges(self):
        path = f"{self.base}files/0/my%20run.pickle"
        status, headers, body = self.ask(path)
        self.assertEqual((status, len(body), headers["accept-ranges"]), (200, 200, "bytes"))
        self.assertIn("sandbox", headers["content-security-policy"])
        status, headers, body = self.ask(path, {"Range": "bytes=10-19"})
        self.assertEqual((status, body, headers["content-range"]), (206, bytes(range(10, 20)), "bytes 10-19/200"))
        self.assertEqual(self.ask(path, {"Range": "bytes=200-"})[0], 416)
        self.assertEqual(self.ask(path, {"Range": "bytes=0-1", "If-Range": '"older"'})[0], 200)
        self.assertEqual(self.ask(path, {"Range": "bytes=0-1", "If-Range": headers["etag"]})[0], 206)
        status, headers, body = self.ask(path, method="HEAD")
        self.assertEqual((status, body, headers["content-length"]), (200, b"", "200"))

    def test_gives_out_nothing_else(self):
        for path in ("/", "/files/0/x", "/0" * 16 + "/", self.base + "../secret.pickle", self.base + "files/1/x", self.base + "files/0",
                     self.base + "sw.js", self.base + "%2e%2e/secret.pickle", self.base + "files/0/../../secret", "*"):
            status, _, body = self.ask(path)
            self.assertTrue(status == 404 or (status == 200 and path.startswith(self.base + "files/0/")), path)
            self.assertNotIn(b"secret", body)

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

    def test_an_entrance_leads_in_once(self):
        entrance = urlsplit(self.server.entrance(self.server.addresses[0])).path
        self.assertEqual(self.ask(entrance, method="HEAD")[0], 404)
        status, headers, _ = self.ask(entrance)
        self.assertEqual((status, headers["location"]), (302, self.server.addresses[0]))
        self.assertEqual(self.ask(entrance)[0], 404)

    def test_takes_the_next_port_where_one_is_in_use(self):
        other = SnapshotServer([], port=self.server.port)
        self.addCleanup(other.close)
        self.assertNotEqual(other.port, self.server.port)
        self.assertNotEqual(urlsplit(other.addresses[0]).path, self.base)

    def test_a_notebooks_frame_is_allowed_only_where_it_was_asked_for(self):
        framed = SnapshotServer([self.named], port=0, is_framed=True)
        self.addCleanup(framed.close)
        self.server, self.base = framed, urlsplit(framed.addresses[0]).path
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
        self.server = SnapshotServer(files, port=0, are_ranks=True)
        self.addCleanup(self.server.close)
        (address,) = self.server.addresses
        self.base, query = urlsplit(address).path, urlsplit(address).query
        self.assertEqual(query, "ranks=ranks.json")
        status, headers, body = self.ask(self.base + "ranks.json")
        self.assertEqual((status, headers["content-type"]), (200, "application/json"))
        listed = json.loads(body)["files"]
        self.assertEqual([entry["path"] for entry in listed], files)
        self.assertEqual(self.ask(self.base + listed[1]["url"])[2], b"job/rank0.pickle")

    def test_says_what_cannot_be_served(self):
        self.assertIn("folder", check_readable(self.folder))
        self.assertIn("no such file", check_readable(self.folder / "x"))
        self.assertIsNone(check_readable(self.named))


if __name__ == "__main__":
    unittest.main()
