# SPDX-License-Identifier: BSD-3-Clause
#
# The short names for what one does with this checkout. CMake does the work (CMakePresets.json); each
# target first installs the Debian packages that it needs and that are missing (KLOOM_SKIP_PACKAGES=1: none).

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
FUZZ_SECONDS ?= 60
SOAK_SECONDS ?= 3600
SOAK_SEED ?= 1
# Test programs share the cores; OpenMP threads that spin while they wait would starve each other.
export OMP_WAIT_POLICY ?= passive
# A machine may choose the core of every OpenBLAS; the tests look at how kloom finds its own.
unexport OPENBLAS_CORETYPE

# The leak check of the address sanitizer reads /proc; in a chroot without it everything else is still checked.
ifeq ($(wildcard /proc/self),)
export ASAN_OPTIONS ?= detect_leaks=0
endif

PRESET = cmake --preset
BUILD = cmake --build -j $(JOBS) --preset
CTEST = ctest -j 2 --preset

# A Python of its own with the newest scikit-learn, for test-python-newest.
NEWEST = build-python-newest

.PHONY: build demo test wheels test-wheels deb test-deb tidy-changed test-python-newest stubs r r-docs test-r test-report docs test-docs check-includes check-tree bench format format-check tidy tsan fuzz soak sbom clean help
.DEFAULT_GOAL := build

help:  ## this list
	@echo "make TARGET, where TARGET is one of"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-16s %s\n", $$1, $$2}'

packages-%:
	@tools/install-packages $*

build: packages-build  ## the program (build/kloom), the library and the tests
	@echo "== building into build/"
	@$(PRESET) release --log-level=WARNING
	@$(BUILD) release

# Where there is no build yet, one that is done sooner; it has the program alone.
DEMO = $(if $(wildcard build/build.ninja),release,demo)
DEMO_FOLDER = $(if $(wildcard build/build.ninja),build,build-demo)

demo: packages-build  ## compares every method on a bundled data set, prints a table, writes report.html
	@echo "== building the program into $(DEMO_FOLDER)/"
	@$(PRESET) $(DEMO) --log-level=WARNING
	@$(BUILD) $(DEMO) --target kloom_cli
	@python3 python/kloom/_demo.py $(DEMO_FOLDER)/kloom examples/data/wdbc.csv $(DEMO_FOLDER)/demo

tidy-changed:  ## clang-tidy, where it is installed, over the C++ files that differ from main (also part of `make test`)
	@tools/tidy-changed

test: format-check packages-shells build tidy-changed  ## every test, then the fast ones once more under address and undefined-behaviour sanitizers
	@echo "== all tests"
	@$(CTEST) release
	@echo "== building with sanitizers into build-asan-ubsan/"
	@$(PRESET) asan-ubsan --log-level=WARNING
	@$(BUILD) asan-ubsan
	@test -e /proc/self || echo "== no /proc here: leaks are not looked for"
	@echo "== tests under sanitizers"
	@$(CTEST) asan-ubsan

test-python-newest: packages-build  ## `pip install .` and the Python tests with the newest scikit-learn from PyPI
	@tools/test-python-newest $(NEWEST)

wheels: packages-build packages-wheels  ## dist/: a source distribution, and a wheel for every Python that is found (or PYTHONS="python3.12 …")
	@JOBS=$(JOBS) tools/make-wheels $(PYTHONS)

test-wheels: packages-bare  ## the wheel of Debian's Python in a bare Debian: install, demo, Python tests (root)
	@tools/test-packages wheel

deb: packages-build packages-deb  ## build-deb/packages: kloom, libkloom-dev, python3-kloom
	@$(PRESET) deb --log-level=WARNING
	@$(BUILD) deb
	@cd build-deb && cpack -G DEB && ls -l packages/*.deb

test-deb: packages-bare  ## the Debian packages in a bare Debian: install, use, remove (root)
	@tools/test-packages deb

stubs: build  ## type stubs of the Python package from the registry
	@PYTHONPATH=build/python /usr/bin/python3 tools/make-stubs

r: packages-build packages-r  ## the R package rkloom, into build/r-lib
	@$(PRESET) release --log-level=WARNING
	@$(BUILD) release --target kloom kloom_cli kloom_pages
	@tools/r-package install build

r-docs: r  ## manual pages of the R package, after its comments changed
	@tools/r-package docs build

test-r: r  ## the R package: R CMD check with its tests and vignette, its guide, models of Python
	@$(BUILD) release --target kloom_python
	@tools/r-package test build

test-report: build packages-report  ## the HTML report in a browser; pages and screenshots stay in build/report-test
	@tests/page/page_test.py build/kloom build/report-test

docs: packages-build packages-docs  ## the documentation site, into build/site
	@$(PRESET) release --log-level=WARNING
	@$(BUILD) release --target kloom_cli kloom_python
	@/usr/bin/python3 tools/make-site build

test-docs: docs packages-report  ## the site: every page and example without a warning, no dead link, nothing loaded from elsewhere; looked at in a browser
	@/usr/bin/python3 tests/docs/check_site.py build/site
	@/usr/bin/python3 tests/page/site_test.py build/site build/site-test

check-includes:  ## do includes point down only?
	@tools/check-includes
	@tools/check-includes --self-test

check-tree:  ## is the tree laid out as HACKING.md says?
	@tools/check-tree
	@tools/check-tree --self-test

bench: packages-build packages-bench  ## the benchmarks, with the machine's floor beside the times
	@$(PRESET) release --log-level=WARNING
	@$(BUILD) release --target bench

format: packages-format  ## clang-format over every C++ file
	@git ls-files '*.h' '*.cpp' | xargs -r clang-format -i

format-check: packages-format  ## is every C++ file formatted?
	@git ls-files '*.h' '*.cpp' | xargs -r clang-format --dry-run --Werror

tidy: packages-build packages-tidy  ## clang-tidy over every C++ file that changed since it was last found clean
	@$(PRESET) tidy --log-level=WARNING
	@tools/tidy -j $(JOBS)

tsan: packages-build packages-tsan  ## the fast tests under the thread sanitizer (clang, libomp, Archer)
	@$(PRESET) tsan --log-level=WARNING
	@$(BUILD) tsan
	@$(CTEST) tsan

fuzz: packages-build packages-fuzz packages-wheels  ## every fuzz target, and Python's entry points, for FUZZ_SECONDS (60) each
	@$(PRESET) release --log-level=WARNING
	@$(BUILD) release --target kloom_python
	@$(PRESET) fuzz --log-level=WARNING
	@$(BUILD) fuzz
	@tools/fuzz build-fuzz $(FUZZ_SECONDS)

soak: build  ## random data, methods, options and faults for SOAK_SECONDS (3600)
	@/usr/bin/python3 tools/soak --program build/kloom --seconds $(SOAK_SECONDS) --seed $(SOAK_SEED)

sbom: build  ## build/kloom.spdx.json: every Debian package that is in the build, with its version (SPDX)
	@tools/sbom build

clean:  ## removes every build folder
	rm -rf build build-demo build-dev build-deb build-bare build-newer-python dist build-asan-ubsan build-tsan build-tidy build-fuzz build-wheel-* $(NEWEST)
