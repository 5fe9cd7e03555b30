# SPDX-License-Identifier: BSD-3-Clause
"""The data sets of the benchmark: which there are, reading them, and dividing them into training and test parts.

Only numpy and scipy are needed, so that the peers can run where pandas is absent.
"""
import csv
import gzip
import hashlib
import pathlib
import sys

import numpy as np

TARGET = "label"
TEST_SHARE = 0.3
SMALL = 1000  # rows up to which a table counts as small
KINDS = ["multi-view", "given kernels", "small tables", "larger tables", "regression", "text and strings"]


class SetInfo:
    """What is known of a set before it is read."""

    def __init__(self, name, files, size, task, classes, kinds, views):
        self.name, self.files = name, files
        self.rows, self.columns = size
        self.task, self.classes, self.kinds, self.views = task, classes, kinds, views

    @property
    def given_kernels(self):
        return "given kernels" in self.kinds


class Data:
    """A set that was read: a table of cells as they were written, or kernels; labels are text, or numbers in regression."""

    def __init__(self, info, header=None, rows=None, kernels=None, y=None):
        self.info, self.header, self.rows, self.kernels, self.y = info, header, rows, kernels, y

    @property
    def task(self):
        return self.info.task

    def views(self):
        """Column numbers of each view, by name; one view called "all" where columns have no prefix."""
        if self.info.views <= 1:
            return {"all": list(range(len(self.header)))}
        found = {}
        for number, name in enumerate(self.header):
            found.setdefault(name.split(".", 1)[0], []).append(number)
        return found


def kinds_of(rows, views, task, has_text):
    kinds = []
    if views > 1:
        kinds.append("multi-view")
    else:
        kinds.append("small tables" if rows <= SMALL else "larger tables")
    if task == "regression":
        kinds.append("regression")
    if has_text in ("strings", "both"):
        kinds.append("text and strings")
    return kinds


def manifest(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def tables(folder):
    """The sets of DATA/tables, where the manifest says everything."""
    if not (folder / "MANIFEST.tsv").exists():
        return
    for line in manifest(folder / "MANIFEST.tsv"):
        rows, views = int(line["rows"]), int(line["views"])
        yield SetInfo(line["name"], [folder / f"{line['name']}.csv.gz"], (rows, int(line["columns"])), line["task"],
                      int(line["classes"] or 0), kinds_of(rows, views, line["task"], line["has_text"]), views)


def older_sets(folder):
    """The sets beside DATA/tables: all with classes; published training and test parts are joined and divided anew."""
    if not (folder / "MANIFEST.tsv").exists():
        return
    found = {}
    for line in manifest(folder / "MANIFEST.tsv"):
        found.setdefault(line["name"].split(" ")[0], []).append(line)
    for name, lines in found.items():
        files = [folder / line["file"] for line in lines]
        rows = sum(int(line["rows"]) for line in lines)
        columns = int(lines[0]["features"].split()[0])
        classes = int(lines[0]["classes_with_counts"].split(":")[0])
        task = "binary" if classes == 2 else "multiclass"
        if files[0].suffix == ".mat":
            yield SetInfo(name, files, (rows, columns), task, classes, ["given kernels"], 1)
        else:
            views = views_in_header(files[0])
            yield SetInfo(name, files, (rows, columns), task, classes, kinds_of(rows, views, task, "no"), views)


def views_in_header(path):
    """How many prefixes `view.` the columns have; 1 unless every column has one."""
    if ".csv" not in path.name:
        return 1
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        names = [name for name in next(csv.reader(file)) if name != TARGET]
    if not all("." in name for name in names):
        return 1
    return len({name.split(".", 1)[0] for name in names})


def all_sets(folder):
    folder = pathlib.Path(folder)
    found = [*tables(folder / "tables"), *older_sets(folder)]
    if not found:
        raise SystemExit(f"{folder} has no MANIFEST.tsv and no tables/MANIFEST.tsv")
    return found


# --- reading

def read(info, most_rows):
    """The set, with at most most_rows rows (the same ones on every machine); None, loudly, if nothing here can read it."""
    if info.given_kernels:
        return read_kernels(info)
    header, rows = (read_csv if ".csv" in info.files[0].name else read_libsvm)(info.files)
    target = header.index(TARGET)
    labels = [row.pop(target) for row in rows]
    header = header[:target] + header[target + 1:]
    if len(rows) > most_rows:
        classes = labels if info.task != "regression" else None
        _, kept = divide(len(rows), classes, f"{info.name}/rows", most_rows / len(rows))
        rows, labels = [rows[i] for i in kept], [labels[i] for i in kept]
    y = np.array(labels, dtype=float) if info.task == "regression" else np.array(labels)
    return Data(info, header=header, rows=rows, y=y)


def read_csv(files):
    header, rows = None, []
    for path in files:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            lines = csv.reader(file)
            header = next(lines)
            rows.extend(lines)
    return header, rows


def read_libsvm(files):
    """Sparse lines as a table with the columns f1, f2, ..."""
    labels, features, last = [], [], 0
    for path in files:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                label, *pairs = line.split()
                pairs = [pair.split(":") for pair in pairs]
                labels.append(label.lstrip("+"))
                features.append([(int(index), value) for index, value in pairs])
                last = max([last, *(index for index, _ in features[-1])])
    rows = []
    for label, pairs in zip(labels, features):
        row = ["0"] * last
        for index, value in pairs:
            row[index - 1] = value
        rows.append([*row, label])
    return [f"f{i + 1}" for i in range(last)] + [TARGET], rows


def read_kernels(info):
    arrays = read_mat(info.files[0])
    if arrays is None:
        print(f"SKIPPED: {info.name}: {info.files[0].name} is MATLAB 7.3 and h5py is not installed", file=sys.stderr)
        return None
    kernels, labels = arrays
    y = np.array([str(int(label)) for label in np.ravel(labels)])
    stack = kernels if kernels.shape[0] == kernels.shape[1] == len(y) else np.transpose(kernels)
    return Data(info, kernels=[np.ascontiguousarray(stack[:, :, p], dtype=float) for p in range(stack.shape[2])], y=y)


def read_mat(path):
    """KH and Y of a MATLAB file; None for version 7.3 (HDF5) without h5py."""
    from scipy.io import loadmat
    try:
        content = loadmat(path)
        return content["KH"], content["Y"]
    except NotImplementedError:
        pass
    try:
        import h5py
    except ImportError:
        return None
    with h5py.File(path, "r") as file:
        return np.array(file["KH"]), np.array(file["Y"])


# --- dividing

def hashed_groups(count, classes, salt):
    """Row numbers class by class (one class without classes), each in the order of a hash of salt and row number.

    No generator of random numbers is involved, so the order is the same in every process, with every version of numpy,
    on every machine.
    """
    groups = {}
    for row in range(count):
        groups.setdefault(None if classes is None else classes[row], []).append(row)

    def key(row):
        return hashlib.blake2b(f"{salt}/{row}".encode(), digest_size=8).digest()
    return [sorted(rows, key=key) for rows in groups.values()]


def divide(count, classes, salt, test_share=TEST_SHARE):
    """Row numbers of the training and of the test part, both ascending; stratified where there are classes."""
    train, test = [], []
    for rows in hashed_groups(count, classes, salt):
        # A class with one sample is in the training part; other classes have at least one sample there.
        held_out = min(int(len(rows) * test_share + 0.5), len(rows) - 1)
        test.extend(rows[:held_out])
        train.extend(rows[held_out:])
    return sorted(train), sorted(test)


def split(data, seed):
    classes = None if data.task == "regression" else data.y.tolist()
    return divide(len(data.y), classes, f"{data.info.name}/{seed}")
