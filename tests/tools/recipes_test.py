#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The recipes in packaging/: one version, and dependencies for everything that CMake and pyproject.toml ask for."""
import json
import pathlib
import re
import subprocess
import tempfile
import tomllib
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# What cmake/KloomDependencies.cmake and cli/CMakeLists.txt look for, and its names in conda-forge and vcpkg. "": it comes with the
# compiler or is no package there (packaging/README.md).
NAMES = {
    "OpenMP": ("libgomp", ""),
    "Boost": ("libboost-headers", "boost-math"),
    "nlohmann_json": ("nlohmann_json", "nlohmann-json"),
    "fmt": ("fmt", "fmt"),
    "ZLIB": ("zlib", "zlib"),
    "PkgConfig": ("pkg-config", ""),
    "MATIO": ("matio", "matio"),
    "CLP": ("coin-or-clp", "coin-or-clp"),
    "CERF_LIBRARY": ("libcerf", ""),
    "KLOOM_OPENBLAS": ("libopenblas", "openblas"),
    "CLI11": ("cli11", "cli11"),
}
# Found through others: the header beside the library, the Fortran library beside OpenBLAS.
BESIDE = {"CERF_INCLUDE_DIR", "KLOOM_GFORTRAN"}


def read(path):
    return (SOURCE / path).read_text(encoding="utf-8")


def asked_for():
    text = read("cmake/KloomDependencies.cmake") + read("cli/CMakeLists.txt")
    return set(re.findall(r"(?:find_package|pkg_check_modules|find_path|find_library)\((\w+)", text)) - BESIDE


class Recipes(unittest.TestCase):
    def setUp(self):
        self.version = re.search(r"project\(kloom VERSION ([\d.]+)", read("CMakeLists.txt")).group(1)
        self.vcpkg = json.loads(read("packaging/vcpkg/vcpkg.json"))
        self.conda = read("packaging/conda-forge/meta.yaml")

    def test_versions(self):
        self.assertEqual(self.vcpkg["version-semver"], self.version)
        self.assertIn(f'set version = "{self.version}"', self.conda)

    def test_this_list_is_what_cmake_asks_for(self):
        self.assertEqual(asked_for(), set(NAMES))

    def test_libraries(self):
        vcpkg = {entry if isinstance(entry, str) else entry["name"] for entry in self.vcpkg["dependencies"]}
        conda = set(re.findall(r"^    - ([\w.-]+)", self.conda, re.MULTILINE))
        for asked, (in_conda, in_vcpkg) in NAMES.items():
            self.assertIn(in_conda, conda, asked)
            if in_vcpkg:
                self.assertIn(in_vcpkg, vcpkg, asked)

    def test_their_switches_are_cmakes(self):
        declared = set(re.findall(r"(?:option|set|find_library|find_path)\((KLOOM_\w+)", "".join(
            read(path) for path in ("CMakeLists.txt", "cmake/KloomDependencies.cmake", "cmake/KloomCompile.cmake",
                                    "cmake/KloomInstall.cmake", "python/CMakeLists.txt"))))
        for recipe in ("packaging/vcpkg/portfile.cmake", "packaging/conda-forge/meta.yaml"):
            asked = set(re.findall(r"(?:-D|define\.)(KLOOM_\w+)=", read(recipe)))
            self.assertTrue(asked, recipe)
            self.assertEqual(asked - declared, set(), f"{recipe} sets what no CMake file declares")

    def test_the_port_by_cmake_itself(self):
        """The port runs, with vcpkg's functions replaced by ones that print what they are told."""
        stubs = ["vcpkg_cmake_configure", "vcpkg_cmake_install", "vcpkg_cmake_config_fixup", "vcpkg_fixup_pkgconfig", "vcpkg_copy_tools",
                 "vcpkg_install_copyright"]
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            for name in ("include/cerf.h", "lib/libopenblas.so"):
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                (place / name).touch()
            lines = [f'function({name})\n  message(STATUS "{name} ${{ARGN}}")\nendfunction()' for name in stubs]
            lines += [f'set(CURRENT_INSTALLED_DIR "{folder}")', f'set(CURRENT_PACKAGES_DIR "{folder}/packages")',
                      f'include("{SOURCE}/packaging/vcpkg/portfile.cmake")']
            (place / "run.cmake").write_text("\n".join(lines), encoding="utf-8")
            done = subprocess.run(["cmake", "-P", "run.cmake"], cwd=folder, text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in stubs:
            self.assertIn(f"-- {name}", done.stdout)
        self.assertIn(f"-DKLOOM_OPENBLAS={folder}/lib/libopenblas.so", done.stdout)
        self.assertIn(f"SOURCE_PATH;{SOURCE};", done.stdout)
        # What the port moves afterwards is where CMake installs it.
        self.assertIn("CONFIG_PATH;lib/cmake/kloom", done.stdout)
        self.assertIn("}/cmake/kloom", read("cmake/KloomInstall.cmake"))
        self.assertTrue((SOURCE / "LICENSE").exists())

    def test_python_dependencies(self):
        run = self.conda[self.conda.index("\n  run:"):]
        for requirement in tomllib.loads(read("pyproject.toml"))["project"]["dependencies"]:
            name, least = re.fullmatch(r"([\w-]+)>=([\d.]+)", requirement).groups()
            self.assertIn(f"    - {name} >={least}\n", run)


if __name__ == "__main__":
    unittest.main()
