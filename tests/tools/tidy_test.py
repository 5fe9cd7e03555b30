#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""tools/tidy with a made-up clang-tidy, which dislikes files that hold the word BAD: which files it looks at again."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "tidy"

CLANG_TIDY = """#!/bin/sh
[ "$1" != --version ] || { echo "version $(cat "$(dirname "$0")/version")"; exit 0; }
for file; do :; done
echo "$file" >> "$(dirname "$0")/looked-at"
if grep -q BAD "$file"; then echo "$file:1: BAD"; exit 1; fi
"""
# -MM FILE: the file and what its lines `include NAME` name.
COMPILER = """#!/bin/sh
for file; do :; done
echo "x.o: $file \\\\"
sed -n 's/^include //p' "$file"
"""


class Tidy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name).resolve() / "tree"
        self.bin = self.tree.parent / "bin"
        for path in (self.tree / "tools", self.tree / "build-tidy", self.bin):
            path.mkdir(parents=True)
        shutil.copy(SCRIPT, self.tree / "tools" / "tidy")
        for name, text in (("clang-tidy", CLANG_TIDY), ("compiler", COMPILER)):
            (self.bin / name).write_text(text)
            (self.bin / name).chmod(0o755)
        (self.bin / "version").write_text("14")
        subprocess.run(["git", "init", "-q", self.tree], check=True)
        (self.tree / ".clang-tidy").write_text("Checks: all\n")
        (self.tree / "h.h").write_text("header\n")
        (self.tree / "a.cpp").write_text("include h.h\n")
        (self.tree / "b.cpp").write_text("nothing\n")
        self.write_commands("-g")

    def write_commands(self, flag):
        entries = [{"file": str(self.tree / name), "command": f"{self.bin}/compiler {flag} -o x.o -c {self.tree / name}"}
                   for name in ("a.cpp", "b.cpp")]
        (self.tree / "build-tidy" / "compile_commands.json").write_text(json.dumps(entries))

    def run_tidy(self, *arguments):
        """Exit code, what was printed, and the files that clang-tidy was asked about."""
        record = self.bin / "looked-at"
        record.write_text("")
        environment = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}"}
        done = subprocess.run([self.tree / "tools" / "tidy", "-j", "1", *arguments], cwd=self.tree, env=environment,
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr, sorted(record.read_text().split())

    def looked_at(self, *arguments):
        code, text, files = self.run_tidy(*arguments)
        self.assertEqual(code, 0, text)
        return files

    def test_a_clean_file_is_looked_at_once(self):
        self.assertEqual(self.looked_at(), ["a.cpp", "b.cpp"])
        self.assertEqual(self.looked_at(), [])

    def test_a_changed_header_counts_for_those_who_include_it(self):
        self.looked_at()
        (self.tree / "h.h").write_text("another\n")
        self.assertEqual(self.looked_at(), ["a.cpp"])
        self.assertEqual(self.looked_at(), [])

    def test_settings_version_and_command_count(self):
        self.looked_at()
        (self.tree / ".clang-tidy").write_text("Checks: few\n")
        self.assertEqual(self.looked_at(), ["a.cpp", "b.cpp"])
        (self.bin / "version").write_text("15")
        self.assertEqual(self.looked_at(), ["a.cpp", "b.cpp"])
        self.write_commands("-O2")
        self.assertEqual(self.looked_at(), ["a.cpp", "b.cpp"])
        self.assertEqual(self.looked_at(), [])

    def test_a_finding_is_shown_again_until_it_is_mended(self):
        (self.tree / "b.cpp").write_text("BAD\n")
        for _ in range(2):
            code, text, files = self.run_tidy()
            self.assertEqual(code, 1)
            self.assertIn("b.cpp:1: BAD", text)
            self.assertIn("b.cpp", files)
        self.assertEqual(files, ["b.cpp"])
        (self.tree / "b.cpp").write_text("mended\n")
        self.assertEqual(self.looked_at(), ["b.cpp"])

    def test_a_file_that_was_clean_and_is_not_any_more(self):
        self.looked_at()
        (self.tree / "a.cpp").write_text("include h.h\nBAD\n")
        self.assertEqual(self.run_tidy()[0], 1)
        self.assertEqual(self.run_tidy()[2], ["a.cpp"])

    def test_named_files_alone(self):
        self.assertEqual(self.looked_at("b.cpp"), ["b.cpp"])
        self.assertEqual(self.looked_at(), ["a.cpp"])
        code, text, files = self.run_tidy("c.cpp")
        self.assertEqual((code, files), (2, []))
        self.assertIn("c.cpp", text)


if __name__ == "__main__":
    unittest.main()
