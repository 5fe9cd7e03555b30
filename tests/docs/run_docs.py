#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs what the documentation tells people to type.

    run_docs.py --source CHECKOUT --build BUILD [--cxx COMPILER] [--r-library FOLDER] [FILE.md ...]

From the pages at the top of the checkout and in docs/, page by page, in order, in one scratch folder per page (with examples/data in it,
a copy of each data file in the folder itself, and the program `kloom` on PATH):
  ```sh            runs; the block must succeed
  ```sh exit=2     runs; its last command must end with that status
  ```text output   the block before it must have printed these lines, in this order; ... stands for anything
  ```cpp           with a main function: is compiled, linked with libkloom and run; without: only shown
  ```python        runs in one interpreter per page, with the package in BUILD/python
  ```r             with --r-library: runs in one R per page, with the package in that folder; values are printed as at R's
                   prompt. Without it (`make test`, which installs no R): only shown, and so is its output
  ```text, ```cmake, ```json, ```csv, ```math, ``` alone: only shown
Any other word after ``` is an error, so that a slip of the pen does not switch a test off. So is a run
without any block that runs, and a link to a file that is not there.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

SHOWN = {"", "text", "cmake", "json", "csv", "math"}
TIME_LIMIT = 300  # seconds for one block
# Reads blocks as lines of JSON, answers with what went wrong and what was printed.
INTERPRETER = """
import contextlib, io, json, sys, traceback
scope = {"__name__": "__main__"}
for line in sys.stdin:
    printed, fault = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(json.loads(line), "block", "exec"), scope)
        except BaseException:
            fault = traceback.format_exc()
    print(json.dumps([fault, printed.getvalue()]), flush=True)
"""

# The same in R.
R_INTERPRETER = """
local({
  input <- file("stdin", "r")
  while (length(line <- readLines(input, 1)) > 0) {
    fault <- NULL
    printed <- capture.output(tryCatch(
      source(exprs = parse(text = jsonlite::fromJSON(line)), print.eval = TRUE),
      error = function(e) fault <<- conditionMessage(e)))
    cat(jsonlite::toJSON(list(fault, paste0(printed, "\\n", collapse = "")), auto_unbox = TRUE, null = "null"), "\\n", sep = "")
  }
})
"""


class Block:
    def __init__(self, page, line, info):
        self.where = f"{page}:{line}"
        words = info.split()
        self.language = words[0] if words else ""
        self.words = words[1:]
        self.lines = []

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"


def blocks_of(path, name):
    found, block, fence = [], None, None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        opening = re.match(r"^ {0,3}(`{3,})\s*([^`]*)$", line)
        if block is None and opening:
            fence, block = opening.group(1), Block(name, number, opening.group(2))
        elif block is not None and re.match(rf"^ {{0,3}}{fence}`*\s*$", line):
            found.append(block)
            block = None
        elif block is not None:
            block.lines.append(line)
    if block is not None:
        raise SystemExit(f"{block.where}: this code block is not closed")
    return found


def dead_links(path):
    """Links of a page to files that do not exist."""
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    return [t for t in targets if "://" not in t and not (path.parent / t).exists()]


class Page:
    """One page's blocks, run in order in one folder."""

    def __init__(self, name, arguments, scratch):
        self.name = name
        self.arguments = arguments
        self.scratch = scratch
        self.output = None
        self.ran = 0
        self.shown = False   # the block before this one was not run
        self.interpreters = {}
        self.stack = contextlib.ExitStack()
        self.environment = dict(os.environ, LC_ALL="C.UTF-8", PATH=f"{arguments.build}{os.pathsep}{os.environ['PATH']}")
        self.environment["PYTHONPATH"] = str(arguments.build / "python")
        if arguments.r_library:
            self.environment["R_LIBS"] = str(arguments.r_library)
        shutil.copytree(arguments.source / "examples" / "data", scratch / "examples" / "data")
        for table in (arguments.source / "examples" / "data").glob("*.csv"):
            shutil.copy(table, scratch)

    def run(self, block):
        """What is wrong with the block, or None."""
        if block.language == "text" and block.words == ["output"]:
            return None if self.shown else self.compare_output(block)
        self.shown = block.language == "r" and not self.arguments.r_library
        if block.language == "sh":
            return self.run_shell(block)
        if block.language == "cpp":
            return self.run_cpp(block) if "int main(" in block.text else None
        if block.language == "python" and not block.words:
            return self.run_in("python", [sys.executable, "-u", "-c", INTERPRETER], block)
        if block.language == "r" and not block.words:
            return None if self.shown else self.run_in("r", ["Rscript", "-e", R_INTERPRETER], block)
        if block.language in SHOWN and not block.words:
            return None
        return f"unknown kind of block '{block.language} {' '.join(block.words)}'"

    def execute(self, command):
        done = subprocess.run(command, cwd=self.scratch, env=self.environment, text=True, timeout=TIME_LIMIT,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.output = done.stdout
        return done.returncode

    def run_shell(self, block):
        expected = 0
        for word in block.words:
            match = re.fullmatch(r"exit=(\d+)", word)
            if not match:
                return f"unknown word '{word}' after sh"
            expected = int(match.group(1))
        self.ran += 1
        status = self.execute(["bash", "-euo", "pipefail", "-c", block.text])
        return None if status == expected else f"ended with {status}, not {expected}; it printed:\n{self.output}"

    def run_in(self, language, command, block):
        """In the page's own interpreter: what earlier blocks defined is there."""
        self.ran += 1
        if language not in self.interpreters:
            started = subprocess.Popen(command, cwd=self.scratch, env=self.environment, text=True, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE)
            self.interpreters[language] = started
            self.stack.callback(started.kill)
        interpreter = self.interpreters[language]
        watch = threading.Timer(TIME_LIMIT, interpreter.kill)
        watch.start()
        print(json.dumps(block.text), file=interpreter.stdin, flush=True)
        answer = interpreter.stdout.readline()
        watch.cancel()
        if not answer:
            raise subprocess.TimeoutExpired(language, TIME_LIMIT)
        fault, self.output = json.loads(answer)
        return f"{fault}; it printed:\n{self.output}" if fault else None

    def run_cpp(self, block):
        self.ran += 1
        source = self.scratch / "program.cpp"
        source.write_text(block.text, encoding="utf-8")
        build = self.arguments.build
        status = self.execute([self.arguments.cxx, "-std=c++20", "-Wall", "-Wextra", "-Werror",
                               f"-I{self.arguments.source / 'include'}", "program.cpp", "-o", "program",
                               f"-L{build}", "-lkloom", f"-Wl,-rpath,{build}"])
        if status == 0:
            status = self.execute(["./program"])
        return None if status == 0 else f"compiling or running ended with {status}; it printed:\n{self.output}"

    def compare_output(self, block):
        if self.output is None:
            return "shows output, but no block before it ran"
        printed = iter(self.output.splitlines())
        for line in block.lines:
            pattern = ".*".join(re.escape(part) for part in line.rstrip().split("..."))
            if not any(re.fullmatch(pattern, p.rstrip()) for p in printed):
                return f"the line '{line}' was not printed (in this order); printed was:\n{self.output}"
        return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--r-library", type=pathlib.Path)
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.source, arguments.build = arguments.source.resolve(), arguments.build.resolve()
    if arguments.r_library:
        arguments.r_library = arguments.r_library.resolve()
    paths = arguments.pages or [*sorted(arguments.source.glob("*.md")), *sorted((arguments.source / "docs").rglob("*.md"))]

    wrong = ran = 0
    for path in paths:
        name = os.path.relpath(path, arguments.source)
        for target in dead_links(path):
            wrong += 1
            print(f"{name}: links to {target}, which is not there")
        with tempfile.TemporaryDirectory(prefix="kloom-docs-") as folder:
            page = Page(name, arguments, pathlib.Path(folder))
            for block in blocks_of(path, name):
                try:
                    fault = page.run(block)
                except subprocess.TimeoutExpired:
                    fault = f"did not end within {TIME_LIMIT} s"
                if fault:
                    wrong += 1
                    print(f"{block.where}: {fault}")
            page.stack.close()
            ran += page.ran
            print(f"{name}: {page.ran} blocks ran")
    print(f"{len(paths)} pages, {ran} blocks ran, {wrong} wrong")
    return 1 if wrong or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
