# SPDX-License-Identifier: BSD-3-Clause
"""The Python package: a page for each public name, from its docstring."""
import inspect
import sys

from . import text

GROUPS = {"Classification": lambda name, thing: name.endswith("Classifier"),
          "Regression": lambda name, thing: name.endswith("Regressor"),
          "Kernels": lambda name, thing: thing.__module__ == "kloom._kernels" or name == "KernelBank",
          "Pictures": lambda name, thing: name.endswith("Display"),
          "Files and machine": lambda name, thing: True}


def methods_of(cls):
    """Public methods that kloom wrote, the first things first; those of scikit-learn are in its own documentation."""
    found = []
    for name in dir(cls):
        owner = next(c for c in cls.__mro__ if name in vars(c))
        written = getattr(cls, name)
        if name.startswith("_") or not owner.__module__.startswith("kloom") or not inspect.getdoc(written):
            continue
        # scikit-learn makes these itself.
        if name.endswith("_request"):
            continue
        found.append(name)
    first = ["fit", "partial_fit", "predict", "predict_proba", "score"]
    return sorted(found, key=lambda name: (first.index(name) if name in first else len(first), name))


def page_of(name, thing):
    lines = [name, "=" * len(name), "", f".. currentmodule:: kloom", ""]
    if inspect.isclass(thing):
        members = methods_of(thing)
        lines += [f".. autoclass:: {name}"] + ([f"   :members: {', '.join(members)}"] if members else [])
    else:
        lines += [f".. autofunction:: {name}"]
    return "\n".join(lines)


def write(package, staged):
    sys.path.insert(0, str(package))
    import kloom

    folder = staged / "reference" / "python"
    groups = {title: [] for title in GROUPS}
    for name in kloom.__all__:
        thing = getattr(kloom, name)
        title = next(title for title, belongs in GROUPS.items() if belongs(name, thing))
        groups[title].append((name, inspect.getdoc(thing).splitlines()[0]))
        text.write(folder / f"{name}.rst", page_of(name, thing))
    lines = ["# Python", "", "The public names of the package `kloom`; `help(kloom.NAME)` shows the same. "
             "[The guide](../../guide/python.md) shows how they are used.", ""]
    for title, found in groups.items():
        lines += [f"## {title}", ""]
        for name, about in found:
            lines += [f"[{name}]({name}.rst)", f": {text.escaped(about)}", ""]
    lines += [text.contents([name for found in groups.values() for name, _ in found])]
    text.write(folder / "index.md", "\n".join(lines))
