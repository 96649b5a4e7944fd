"""What a cell shows, as HTML; e2e/python.spec.ts opens it in a browser."""

import base64
import contextlib
import gzip
import io
import json
import os
import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import vramscope
from vramscope import __main__ as program
from vramscope import notebook


class ShowTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name, "a <b>.pickle")
        self.path.write_bytes(b"\x80\x04]q\x00.")

    def test_the_page_and_the_file_are_in_the_cell(self):
        html = vramscope.show(self.path, height=300)._repr_html_()
        self.assertIn("height:300px", html)
        self.assertNotIn("http:", html)
        page = gzip.decompress(base64.b64decode(re.search(r'atob\("([^"]+)"\)', html)[1])).decode()
        element = re.search(r'<script type="application/json" id="vramscope-report">(.*?)</script>', page)[1]
        self.assertNotIn("<", element)
        report = json.loads(element)
        self.assertEqual((report["title"], report["format"]), ("a <b>.pickle", 1))
        self.assertEqual(gzip.decompress(base64.b64decode(report["base64"])), self.path.read_bytes())

    def test_a_larger_file_is_served(self):
        with mock.patch.object(notebook, "MOST_INLINE_BYTES", 4):
            html = vramscope.show(self.path)._repr_html_()
        self.addCleanup(notebook._servers.pop(str(self.path.resolve())).close)
        self.assertRegex(html, r'<iframe src="http://127\.0\.0\.1:\d+/[0-9a-f]{32}/\?snapshot=files/0/a%20%3Cb%3E.pickle"')

    @unittest.skipIf(os.name == "nt", "Windows has no such names")
    def test_a_name_steers_no_terminal(self):
        path = self.path.with_name("\x1b[2J.pickle")
        path.write_bytes(self.path.read_bytes())
        self.assertTrue(repr(vramscope.show(path)).isprintable())

    def test_a_file_that_is_not_there_is_an_error_that_says_so(self):
        with self.assertRaisesRegex(FileNotFoundError, "no such file"):
            vramscope.show("nowhere.pickle")


class ProgramTest(unittest.TestCase):
    def test_a_browser_is_not_looked_for_where_nobody_sees_it(self):
        self.assertFalse(program.has_screen("linux", {}))
        self.assertTrue(program.has_screen("linux", {"DISPLAY": ":0"}))
        self.assertFalse(program.has_screen("darwin", {"SSH_CONNECTION": "1 2 3 4"}))
        self.assertTrue(program.has_screen("win32", {}))

    def announced(self, sees, opens=True):
        """The printed text, and the addresses that the browser was sent to."""
        server = mock.Mock(port=7878, addresses=["http://127.0.0.1:7878/TOKEN/"], entrance_file=lambda _: Path("/tmp/once.html"))
        options = mock.Mock(port=7878, files=["a.pickle"], opens=opens)
        with mock.patch.object(program, "has_screen", lambda: sees), mock.patch("webbrowser.open", return_value=True) as browser:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                program.announce(server, options)
        return out.getvalue(), [call.args[0] for call in browser.call_args_list]

    def test_opens_the_browser_at_an_address_without_the_token(self):
        printed, opened = self.announced(sees=True)
        self.assertIn("http://127.0.0.1:7878/TOKEN/", printed)
        self.assertNotIn("ssh", printed)
        self.assertEqual(opened, ["file:///tmp/once.html"])
        self.assertEqual(self.announced(sees=True, opens=False)[1], [])

    def test_prints_how_to_forward_the_port_where_there_is_no_screen(self):
        printed, opened = self.announced(sees=False)
        self.assertRegex(printed, r"ssh -N -L 7878:127\.0\.0\.1:7878 \S+@\S+")
        self.assertEqual(opened, [])

    def test_names_of_files_do_not_steer_the_terminal(self):
        self.assertEqual(program.printable("a\x1b[2Jb\u202e"), "a\ufffd[2Jb\ufffd")

    def test_the_version_of_node_is_read(self):
        self.assertIsNone(program.node_version(None))
        self.assertIsNone(program.node_version("/nowhere/node"))


if __name__ == "__main__":
    unittest.main()
