# SPDX-License-Identifier: BSD-3-Clause
"""What somebody who waits for a fit sees: bars where tqdm is installed and a terminal or a notebook shows them, lines
elsewhere."""
import importlib
import math
import sys


def in_notebook():
    """Does a kernel of Jupyter run this process?"""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell is not None and hasattr(shell, "kernel")


def reporter(verbose):
    """What the library is to call with every step, for a value of the parameter ``verbose``; None: nothing."""
    if not verbose:
        return None
    if callable(verbose):
        return Bars(verbose)
    if in_notebook() or sys.stderr.isatty():
        try:
            return Bars(importlib.import_module("tqdm.auto").tqdm)
        except ImportError:
            pass
    return say_progress


def say_progress(stage, step, steps, objective, seconds):
    print(f"{stage}: {step}" + (f" of {steps}" if steps else "") +
          (f", objective {objective:.6g}" if math.isfinite(objective) else "") + f" ({seconds:.1f} s)")


class Bars:
    """A bar for every stage, of a class with the interface of tqdm."""

    def __init__(self, kind):
        self._kind, self._bar, self._stage, self._steps = kind, None, None, None

    def __call__(self, stage, step, steps, objective, seconds):
        if stage != self._stage or (steps or None) != self._steps or step < self._bar.n:
            self.close()
            self._stage, self._steps = stage, steps or None
            self._bar = self._kind(total=self._steps, desc=stage)
        if math.isfinite(objective):
            self._bar.set_postfix(objective=f"{objective:.6g}", refresh=False)
        self._bar.update(step - self._bar.n)

    def close(self):
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    # The library lets go of its reporter when a computation has ended, however it ended.
    __del__ = close
