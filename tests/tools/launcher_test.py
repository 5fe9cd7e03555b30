#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""packaging/wheel/kloom.in, the `kloom` of a wheel, in made-up installations: does it find the program in each?"""
import pathlib
import re
import subprocess
import tempfile
import unittest

TEMPLATE = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "wheel" / "kloom.in"
PYTHON = "python3.97"
PLACES = [f"lib/{PYTHON}/site-packages", f"lib64/{PYTHON}/site-packages", f"lib/{PYTHON}/dist-packages", ""]


class Launcher(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        # A space in the path, as people have it.
        self.prefix = pathlib.Path(folder.name) / "my env"
        (self.prefix / "bin").mkdir(parents=True)
        script = TEMPLATE.read_text(encoding="utf-8")
        script = script.replace("@Python_VERSION_MAJOR@", "3").replace("@Python_VERSION_MINOR@", "97")
        self.assertFalse(re.search(r"@\w+@", script))
        self.launcher = self.program(self.prefix / "bin" / "kloom", script)

    def program(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return path

    def package(self, place):
        return self.program(self.prefix / place / "kloom" / "bin" / "kloom", f'#!/bin/sh\nprintf "%s|" "{place}" "$@"\nexit 3\n')

    def start(self, *arguments, launcher=None, cwd=None):
        done = subprocess.run([launcher or self.launcher, *arguments], text=True, capture_output=True, check=False, cwd=cwd)
        return done.returncode, done.stdout

    def test_every_kind_of_installation(self):
        for place in PLACES:
            program = self.package(place)
            self.assertEqual(self.start("train", "a b", "", "--x=*"), (3, f"{place}|train|a b||--x=*|"))
            program.unlink()

    def test_through_a_link_as_pipx_makes_them(self):
        self.package(PLACES[0])
        link = self.prefix / "elsewhere"
        link.symlink_to(self.launcher)
        self.assertEqual(self.start("info", launcher=link), (3, f"{PLACES[0]}|info|"))

    def test_from_its_own_folder(self):
        self.package(PLACES[0])
        done = subprocess.run(["sh", "kloom", "info"], cwd=self.prefix / "bin", text=True, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (3, f"{PLACES[0]}|info|"))

    def test_elsewhere_python_is_asked(self):
        self.program(self.prefix / "bin" / PYTHON, '#!/bin/sh\nprintf "%s|" "$@"\n')
        self.assertEqual(self.start("info", "a b"), (0, "-m|kloom|info|a b|"))


if __name__ == "__main__":
    unittest.main()
