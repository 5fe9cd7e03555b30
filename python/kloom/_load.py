# SPDX-License-Identifier: BSD-3-Clause
"""Loads the C++ library so that it is fast and leaves everything else alone.

libgomp reads OMP_WAIT_POLICY once, when it is loaded: threads that spin while they wait make a busy machine many
times slower. The BLAS inside kloom is a private copy; where it does not know the processor, its core is corrected in
place, which changes nothing for NumPy. What the user has set in the environment is respected, and the environment is
the same afterwards.
"""
import os

import numpy  # noqa: F401  NumPy's own BLAS is loaded in the environment that the user gave it


def load():
    waits = "OMP_WAIT_POLICY" in os.environ
    if not waits:
        os.environ["OMP_WAIT_POLICY"] = "passive"
    try:
        from . import _core
    finally:
        if not waits:
            del os.environ["OMP_WAIT_POLICY"]
    if "OPENBLAS_CORETYPE" not in os.environ:
        _core.cure_blas_core()
    return _core


def check_arrays():
    """A module that was compiled with a pybind11 older than 2.12 reads arrays of NumPy 2 wrongly and does not notice."""
    entries = numpy.arange(8.0).reshape(2, 2, 2)
    back = core.Bank.from_stack(entries, ["a", "b"], False).panels(1, 2, 0, 2)
    if not numpy.array_equal(back[0], entries[1]) or back.strides != (32, 16, 8):
        raise ImportError(f"this build of kloom does not understand NumPy {numpy.__version__}: it was compiled with a pybind11 "
                          f"for NumPy 1. Build it for this Python with 'pip install .'")


core = load()
check_arrays()
