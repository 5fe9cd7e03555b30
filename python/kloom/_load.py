# SPDX-License-Identifier: BSD-3-Clause
"""Loads the C++ library so that it is fast and leaves everything else alone.

libgomp reads OMP_WAIT_POLICY once, when it is loaded: threads that spin while they wait make a busy machine many
times slower. The BLAS inside kloom is a private copy; where it does not know the processor, its core is corrected in
place, which changes nothing for NumPy. What the user has set in the environment is respected, and the environment is
the same afterwards.
"""
import contextlib
import mmap
import os

import numpy  # noqa: F401  NumPy's own BLAS is loaded in the environment that the user gave it


BUFFER = 128 << 20        # of OpenBLAS, for each of its threads
REST = 16 << 20           # what else is taken while the library is loaded
NO_RESERVE = 0x4000       # MAP_NORESERVE, which `mmap` does not name before Python 3.11


def there_is_room(buffers):
    try:
        mmap.mmap(-1, buffers * BUFFER + REST, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE).close()
    except OSError:
        return False
    return True


def environment_for_loading():
    """Variables that hold while the library is loaded. The library of linear programming may bring the system's OpenBLAS along, which takes
    a buffer for each processor then, and asks for ever where the address space is limited (`ulimit -v`)."""
    variables = {"OMP_WAIT_POLICY": os.environ.get("OMP_WAIT_POLICY", "passive")}
    if not there_is_room((os.cpu_count() or 1) + 2):   # and two that kloom takes itself
        if not there_is_room(1):
            raise MemoryError("a limit on the address space (ulimit -v) leaves no room for the libraries that kloom is made of; raise it")
        variables["OMP_NUM_THREADS"] = "1"
    return variables


@contextlib.contextmanager
def environment(variables):
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def load():
    with environment(environment_for_loading()):
        from . import _core
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
