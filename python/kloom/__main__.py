# SPDX-License-Identifier: BSD-3-Clause
"""The command line: ``python -m kloom train data.csv``; ``python -m kloom demo`` shows it on bundled data."""
import os
import pathlib
import shutil
import subprocess
import sys

from . import _demo

# Not resolved: in a build folder this file is a link, and the program lies beside the link.
PACKAGE = pathlib.Path(os.path.abspath(__file__)).parent
PROGRAM = PACKAGE / "bin" / "kloom"
DATA = PACKAGE / "data" / "wdbc.csv"


def demo(folder="kloom-demo"):
    """On a copy of the data, so that the commands it prints can be typed again."""
    os.makedirs(folder, exist_ok=True)
    data = os.path.join(folder, DATA.name)
    shutil.copyfile(DATA, data)
    _demo.show(PROGRAM, data, folder, name="kloom")


def main(arguments):
    if not PROGRAM.exists():
        sys.exit(f"kloom: there is no program at {PROGRAM}: this package was built without it (KLOOM_BUILD_CLI=OFF)")
    if arguments == ["demo"]:
        try:
            demo()
        except subprocess.CalledProcessError as error:
            sys.exit(error.returncode)
        return
    os.execv(PROGRAM, ["kloom", *arguments])


if __name__ == "__main__":
    main(sys.argv[1:])
