# SPDX-License-Identifier: BSD-3-Clause
"""Messages of the library in the words of Python: its options are called --max-iter there and max_iter here."""
import contextlib
import re

# Options that have another name in Python: because scikit-learn has one, or because `lambda` is a keyword.
PYTHON_NAMES = {
    "iterations": "max_iter",
    "tolerance": "tol",
    "lambda": "reg_lambda",
    "lambda_grid": "reg_lambda_grid",
}
_FLAGS = {"no_views": "views={}", "ignore": "X.drop(columns=...)", "keep": "keep=[...]", "text": "text=[...]",
          "no_standardise": "standardise=False", "clip_spectrum": "clip_spectrum=True", "memory": "the memory limit"}


def python_name(option):
    return PYTHON_NAMES.get(option, option)


def in_python(message):
    """`more --iterations` becomes `more max_iter`."""

    def translate(match):
        name = match.group(1).replace("-", "_")
        return _FLAGS.get(name, python_name(name))

    return re.sub(r"--([a-z][a-z-]*)", translate, message)


@contextlib.contextmanager
def python_words():
    """Raises what the library raises, said in Python's words."""
    try:
        yield
    except (ValueError, OSError, MemoryError) as error:
        said = in_python(str(error))
        if said == str(error):
            raise
        raise type(error)(said) from None
