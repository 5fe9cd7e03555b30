#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""tools/install-packages with made-up dpkg-query, apt-get, apt-cache, id and sudo: when is the system touched?"""
import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "install-packages"
REAL_TOOLS = ("bash", "env", "grep", "mktemp", "rm", "tail", "cat", "sort")


class InstallPackages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bin = pathlib.Path(folder.name) / "bin"
        self.bin.mkdir()
        self.calls = pathlib.Path(folder.name) / "calls"
        for name in REAL_TOOLS:
            path = next(p for p in (pathlib.Path("/usr/bin") / name, pathlib.Path("/bin") / name) if p.exists())
            (self.bin / name).symlink_to(path)
        self.fake("dpkg-query", "echo installed")
        self.fake("apt-cache", "exit 0")
        self.fake("apt-get", f'echo "apt-get $*" >> {self.calls}')
        self.fake("id", "echo 0")

    def fake(self, name, body):
        path = self.bin / name
        path.write_text(f"#!/bin/bash\n{body}\n")
        path.chmod(0o755)

    def only_missing(self, package):
        self.fake("dpkg-query", f'[ "${{@: -1}}" = {package} ] && exit 1; echo installed')

    def run_script(self, *arguments, **environment):
        done = subprocess.run(["bash", SCRIPT, *arguments], text=True, capture_output=True, check=False,
                              env={"PATH": str(self.bin), "TMPDIR": os.environ.get("TMPDIR", "/tmp"), **environment})
        calls = self.calls.read_text().splitlines() if self.calls.exists() else []
        return done, calls

    def test_nothing_missing_calls_no_package_manager(self):
        done, calls = self.run_script("build", "tidy")
        self.assertEqual((done.returncode, done.stdout, done.stderr, calls), (0, "", "", []))

    def test_only_what_is_missing_is_installed(self):
        self.only_missing("libcerf-dev")
        done, calls = self.run_script("build")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(calls, ["apt-get -q -y update", "apt-get -q -y install --no-install-recommends libcerf-dev"])

    def test_a_removed_package_whose_settings_remain_is_missing(self):
        self.fake("dpkg-query", 'if [ "${@: -1}" = cmake ]; then echo config-files; else echo installed; fi')
        _, calls = self.run_script("build")
        self.assertEqual(calls[-1], "apt-get -q -y install --no-install-recommends cmake")

    def test_the_system_can_be_left_alone(self):
        self.only_missing("libcerf-dev")
        done, calls = self.run_script("build", KLOOM_SKIP_PACKAGES="1")
        self.assertEqual((done.returncode, calls), (0, []))

    def test_without_root_sudo_is_used(self):
        self.only_missing("libcerf-dev")
        self.fake("id", "echo 1000")
        self.fake("sudo", f'echo "sudo" >> {self.calls}; exec "$@"')
        done, calls = self.run_script("build")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(calls[-2:], ["sudo", "apt-get -q -y install --no-install-recommends libcerf-dev"])

    def test_without_root_and_sudo_one_line_says_so(self):
        self.only_missing("libcerf-dev")
        self.fake("id", "echo 1000")
        done, calls = self.run_script("build")
        self.assertEqual((done.returncode, calls), (1, []))
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("neither root nor sudo", done.stderr)
        self.assertIn("libcerf-dev", done.stderr)

    def test_a_package_that_cannot_be_had_is_named_in_one_line(self):
        self.only_missing("libcerf-dev")
        self.fake("apt-cache", "exit 100")
        done, _ = self.run_script("build")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("package libcerf-dev cannot be had", done.stderr)

    def test_what_the_package_manager_complained_about_is_said(self):
        self.only_missing("libcerf-dev")
        self.fake("apt-get", 'case "$*" in *install*) echo "E: No space left"; exit 100 ;; esac')
        done, _ = self.run_script("build")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("E: No space left", done.stderr)


if __name__ == "__main__":
    unittest.main()
