# SPDX-License-Identifier: BSD-3-Clause
"""The journal: one line of JSON per outcome, appended as soon as it is known, so that a run can be interrupted and resumed.

An outcome is known by set, seed and competitor; of several lines with the same three, the last counts.
"""
import json
import os
import pathlib


def key(outcome):
    return outcome["set"], outcome["seed"], outcome["competitor"]


def read(*paths):
    """Outcomes by key. A last line that was cut off is as if it were not there; any other bad line is an error."""
    found = {}
    for path in map(pathlib.Path, paths):
        if not path.exists():
            continue
        lines = path.read_text(encoding="utf-8").split("\n")
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                outcome = json.loads(line)
            except ValueError:
                if number == len(lines):
                    continue
                raise SystemExit(f"{path}, line {number} is not JSON; is this a journal?") from None
            found[key(outcome)] = outcome
    return found


class Journal:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._drop_torn_line()

    def _drop_torn_line(self):
        """The next line must begin on a line of its own."""
        if not self.path.exists():
            return
        with open(self.path, "rb+") as file:
            content = file.read()
            file.truncate(content.rfind(b"\n") + 1)

    def append(self, outcome):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(outcome) + "\n")
            file.flush()
            os.fsync(file.fileno())
