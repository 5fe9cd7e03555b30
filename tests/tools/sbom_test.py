#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""tools/sbom BUILD names what the files of this build really load and were compiled with, in the form that SPDX 2.3 asks for."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop())
TOOL = SOURCE / "tools" / "sbom"


def said(*command):
    return subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=True).stdout


class Sbom(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = said(sys.executable, TOOL, BUILD, "-o", "-")
        cls.document = json.loads(cls.text)
        cls.packages = {package["name"]: package for package in cls.document["packages"]}

    def test_has_what_spdx_asks_for(self):
        self.assertEqual(self.document["spdxVersion"], "SPDX-2.3")
        self.assertEqual(self.document["dataLicense"], "CC0-1.0")
        self.assertRegex(self.document["creationInfo"]["created"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertRegex(self.document["documentNamespace"], r"^https?://[^#]+$")
        identifiers = [package["SPDXID"] for package in self.document["packages"]]
        self.assertEqual(len(identifiers), len(set(identifiers)))
        for package in self.document["packages"]:
            self.assertRegex(package["SPDXID"], r"^SPDXRef-[A-Za-z0-9.-]+$")
            for key in ("name", "versionInfo", "downloadLocation", "licenseConcluded", "licenseDeclared", "copyrightText"):
                self.assertTrue(package[key], (package["name"], key))
        ends = {"SPDXRef-DOCUMENT", *identifiers}
        for relation in self.document["relationships"]:
            self.assertIn(relation["spdxElementId"], ends)
            self.assertIn(relation["relatedSpdxElement"], ends)
        related = {relation[end] for relation in self.document["relationships"] for end in ("spdxElementId", "relatedSpdxElement")}
        self.assertEqual(related, ends, "every package has its place")

    def test_names_what_the_library_loads(self):
        # What the loader maps, as it says itself while it starts the program; the tool asks ldd.
        listing = subprocess.run([BUILD / "kloom", "--version"], env={**os.environ, "LD_DEBUG": "files"},
                                 stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, check=True).stderr
        files = {os.path.realpath(path) for path in re.findall(r"calling init: (/\S+)", listing)}
        files = {path for path in files if "libkloom" not in path}
        self.assertGreater(len(files), 10)
        for file in files:
            names = [file, file.removeprefix("/usr")]
            found = subprocess.run(["dpkg", "-S", *names], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
            self.assertIn(found.split(":")[0], self.packages, file)

    def test_names_what_is_inside(self):
        # Header-only or static: nothing in the files says that they are there.
        for name in ("nlohmann-json3-dev", "libcli11-dev", "pybind11-dev", "zlib1g-dev"):
            self.assertIn(name, self.packages)
        self.assertTrue(any(name.startswith("libboost") for name in self.packages))
        self.assertTrue(any(re.match("libopenblas.*-dev", name) for name in self.packages))
        self.assertNotIn("libgtest-dev", self.packages, "tests are not part of what people get")

    def test_versions_are_those_installed(self):
        for name, package in self.packages.items():
            if name == "kloom":
                continue
            versions = said("dpkg-query", "-W", "-f", "${Version}\\n", name).split()
            self.assertIn(package["versionInfo"], versions)
            self.assertIn(name + "@", package["externalRefs"][0]["referenceLocator"])

    def test_says_the_same_again(self):
        self.assertEqual(said(sys.executable, TOOL, BUILD, "-o", "-"), self.text)

    def test_a_folder_without_a_build(self):
        with tempfile.TemporaryDirectory() as empty:
            done = subprocess.run([sys.executable, TOOL, empty], stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("make build", done.stderr)


if __name__ == "__main__":
    unittest.main()
