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


core = load()
