#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Does run_docs.py notice what it must notice? Made-up pages, a made-up `kloom`, no build needed."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUNNER = pathlib.Path(__file__).resolve().parent / "run_docs.py"


class RunDocs(unittest.TestCase):
    def run_page(self, text):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "examples" / "data").mkdir(parents=True)
            (root / "examples" / "data" / "a.csv").write_text("1\n")
            (root / "build").mkdir()
            kloom = root / "build" / "kloom"
            kloom.write_text('#!/bin/sh\necho "made-up kloom 0.5 s"\nexit "${1:-0}"\n')
            kloom.chmod(0o755)
            (root / "README.md").write_text(text)
            done = subprocess.run([sys.executable, RUNNER, "--source", root, "--build", root / "build"],
                                  capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr

    def assert_good(self, text):
        status, output = self.run_page(text)
        self.assertEqual(status, 0, output)

    def assert_bad(self, text, message):
        status, output = self.run_page(text)
        self.assertNotEqual(status, 0, output)
        self.assertIn(message, output)

    def test_blocks_run_in_order_with_kloom_and_data_at_hand(self):
        self.assert_good("```sh\nkloom > out\ncat examples/data/a.csv a.csv\n```\n\n```sh\ntest -s out\n```\n")

    def test_failing_command_is_noticed(self):
        self.assert_bad("```sh\nkloom 1\n```\n", "README.md:1: ended with 1, not 0")

    def test_failure_before_the_last_command_is_noticed(self):
        self.assert_bad("```sh\nkloom 1\ntrue\n```\n", "ended with 1, not 0")
        self.assert_bad("```sh\nkloom 1 | cat\n```\n", "ended with 1, not 0")

    def test_python_blocks_share_an_interpreter_and_their_faults_are_noticed(self):
        self.assert_good("```python\nx = 3\nprint(x)\n```\n\n```text output\n3\n```\n\n```python\nassert x == 3\n```\n")
        self.assert_bad("```python\nassert 1 == 2\n```\n", "AssertionError")
        self.assert_bad("```python\nprint(1)\n```\n\n```text output\n2\n```\n", "'2' was not printed")
        self.assert_bad("```python\nimport os; os._exit(0)\n```\n", "did not end")

    def test_r_blocks_are_shown_where_no_library_of_r_is_named(self):
        self.assert_good("```sh\nkloom\n```\n```r\nstop()\n```\n```text output\nwhatever R says\n```\n")
        self.assert_bad("```sh\nkloom\n```\n```r\nx\n```\n```sh\nkloom\n```\n```text output\nother\n```\n", "'other' was not printed")
        self.assert_bad("```r\nx\n```\n", "0 blocks ran")
        self.assert_bad("```sh\nkloom\n```\n```r quietly\nx\n```\n", "unknown kind of block")

    def test_expected_status(self):
        self.assert_good("```sh exit=2\nkloom 2\n```\n")
        self.assert_bad("```sh exit=2\nkloom\n```\n", "ended with 0, not 2")

    def test_shown_output_is_compared(self):
        self.assert_good("```sh\nkloom\n```\n```text output\nmade-up kloom ... s\n```\n")
        self.assert_bad("```sh\nkloom\n```\n```text output\nother words\n```\n", "'other words' was not printed")

    def test_page_without_commands_is_an_error(self):
        self.assert_bad("nothing\n```text\nkloom\n```\n", "0 blocks ran")

    def test_misspelt_kind_is_an_error(self):
        self.assert_bad("```sh\nkloom\n```\n```shell\nkloom\n```\n", "unknown kind of block")

    def test_open_block_is_an_error(self):
        self.assert_bad("```sh\nkloom\n", "not closed")

    def test_dead_link_is_an_error(self):
        self.assert_good("[a](README.md) [b](examples/data#x) [c](https://example.org/x)\n```sh\nkloom\n```\n")
        self.assert_bad("[a](docs/none.md)\n```sh\nkloom\n```\n", "links to docs/none.md")

    def test_program_that_does_not_compile_is_noticed(self):
        self.assert_bad("```cpp\nint main() { return zero; }\n```\n", "compiling or running ended with")


if __name__ == "__main__":
    unittest.main()
