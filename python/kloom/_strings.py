# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of letter sequences that may differ in places, for :class:`KernelFunctions`."""
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from scipy import sparse


class _TextKernels:
    """``fit_transform`` and ``transform`` as :class:`KernelFunctions` calls them."""

    def fit_transform(self, X, y=None):
        """Kernels among the training texts.

        Parameters
        ----------
        X : sequence of str
            The training texts.
        y : ignored
            As scikit-learn's transformers have it.

        Returns
        -------
        ndarray of shape (n, n)
        """
        return self._among(_texts(X))

    def transform(self, X):
        """Kernels between new texts and those of training.

        Parameters
        ----------
        X : sequence of str
            The new texts.

        Returns
        -------
        ndarray of shape (m, n)
        """
        return self._between(_texts(X))


class _Counted(_TextKernels):
    """Kernels that are inner products of counts."""

    def _among(self, texts):
        self._letters = sorted(set("".join(texts)))
        self._places = {}
        self._training = self._counts(texts)
        return self._products(self._training)

    def _between(self, texts):
        return self._products(self._counts(texts))

    def _counts(self, texts):
        """Rows of counts; features that were not there in training are columns behind those that were."""
        rows, columns = [], []
        for row, text in enumerate(texts):
            for feature in self._features(text):
                rows.append(row)
                columns.append(self._places.setdefault(feature, len(self._places)))
        counts = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(texts), len(self._places)))
        if self.normalise:
            lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
            counts = sparse.diags(np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)) @ counts
        return counts.tocsr()

    def _products(self, counts):
        return np.asarray((counts[:, :self._training.shape[1]] @ self._training.T).todense())


@dataclass
class MismatchSpectrum(_Counted):
    """Substrings of length k, each counted for all strings that differ from it in at most some places [1]_.

    Parameters
    ----------
    k : int
        Length of the substrings.
    mismatches : int
        In how many places they may differ. The letters are those of the training texts; the number of strings grows with
        their number to this power.
    normalise : bool
        Divide by the lengths of the vectors of counts, so that every text is as similar to itself.

    References
    ----------
    .. [1] C. Leslie, E. Eskin, A. Cohen, J. Weston, W. S. Noble, Mismatch string kernels for discriminative protein
       classification, Bioinformatics 20, 2004.

    Examples
    --------
    >>> from kloom import MismatchSpectrum
    >>> MismatchSpectrum(k=3, mismatches=1).fit_transform(["abc", "abd", "ddd"]).round(2)
    array([[1. , 0.4, 0. ],
           [0.4, 1. , 0.2],
           [0. , 0.2, 1. ]])
    """

    k: int = 3
    mismatches: int = 1
    normalise: bool = True

    def __post_init__(self):
        if not 0 <= self.mismatches < self.k:
            raise ValueError(f"mismatches must be from 0 to k - 1; got {self.mismatches} with k = {self.k}")

    def _features(self, text):
        for start in range(len(text) - self.k + 1):
            yield from self._near(text[start:start + self.k])

    def _near(self, word):
        yield word
        for count in range(1, self.mismatches + 1):
            for places in combinations(range(self.k), count):
                others = [[letter for letter in self._letters if letter != word[place]] for place in places]
                for letters in product(*others):
                    changed = list(word)
                    for place, letter in zip(places, letters):
                        changed[place] = letter
                    yield "".join(changed)


@dataclass
class GappySpectrum(_Counted):
    """Strings of length k that are found in windows of a text with gaps between their letters [1]_.

    Parameters
    ----------
    k : int
        Length of the strings.
    gaps : int
        How many letters of a window of k + gaps letters are left out. A shorter text is one window.
    normalise : bool
        Divide by the lengths of the vectors of counts, so that every text is as similar to itself.

    References
    ----------
    .. [1] C. Leslie, R. Kuang, Fast string kernels using inexact matching for protein sequences, JMLR 5, 2004.

    Examples
    --------
    >>> from kloom import GappySpectrum
    >>> GappySpectrum(k=2, gaps=1).fit_transform(["abc", "axc", "cba"]).round(2)
    array([[1.  , 0.33, 0.  ],
           [0.33, 1.  , 0.  ],
           [0.  , 0.  , 1.  ]])
    """

    k: int = 3
    gaps: int = 1
    normalise: bool = True

    def __post_init__(self):
        if self.k < 1 or self.gaps < 0:
            raise ValueError(f"k must be at least 1 and gaps at least 0; got k = {self.k}, gaps = {self.gaps}")

    def _features(self, text):
        size = min(self.k + self.gaps, len(text))
        for start in range(len(text) - size + 1):
            window = text[start:start + size]
            yield from {"".join(letters) for letters in combinations(window, self.k)}   # each once for a window


@dataclass
class EditDistances(_TextKernels):
    """A Gaussian of the vectors of edit distances to all training texts.

    An exponential of the distance itself need not be positive semidefinite; this always is. The edit distance is the least
    number of letters that are inserted, left out or changed.

    Parameters
    ----------
    width : float or None
        Of the Gaussian, in root mean square distances; None: the median among the training texts.

    Examples
    --------
    >>> from kloom import EditDistances
    >>> EditDistances(width=1.0).fit_transform(["abc", "abd", "xyz"]).round(2)
    array([[1.  , 0.72, 0.03],
           [0.72, 1.  , 0.03],
           [0.03, 0.03, 1.  ]])
    """

    width: float = None

    def _among(self, texts):
        self._texts = texts
        self._vectors = self._distances(texts)
        apart = self._apart(self._vectors)
        self._width = self.width
        if self._width is None:
            median = np.median(apart[apart > 0]) if (apart > 0).any() else 1.0
            self._width = float(median)
        return self._gaussian(apart)

    def _between(self, texts):
        return self._gaussian(self._apart(self._distances(texts)))

    def _distances(self, texts):
        return np.array([edit_distances(text, self._texts) for text in texts])

    def _apart(self, vectors):
        """Root mean squares of the differences of distances."""
        squares = (vectors ** 2).sum(axis=1)[:, None] + (self._vectors ** 2).sum(axis=1) - 2 * vectors @ self._vectors.T
        return np.sqrt(np.maximum(squares, 0.0) / len(self._texts))

    def _gaussian(self, apart):
        return np.exp(-apart ** 2 / (2 * self._width ** 2))


def edit_distances(text, others):
    """From one text to each of the others; the columns of all tables are made side by side."""
    longest = max(map(len, others), default=0)
    letters = np.array([[ord(letter) for letter in other] + [-1] * (longest - len(other)) for other in others], dtype=int)
    letters = letters.reshape(len(others), longest)
    row = np.tile(np.arange(longest + 1.0), (len(others), 1))   # from nothing to the first letters of each
    for i, letter in enumerate(text):
        before, row = row, np.empty_like(row)
        row[:, 0] = i + 1
        changed = before[:, :-1] + (letters != ord(letter))
        for j in range(longest):
            row[:, j + 1] = np.minimum(np.minimum(before[:, j + 1], row[:, j]) + 1, changed[:, j])
    return row[np.arange(len(others)), [len(other) for other in others]]


def _texts(X):
    texts = list(X)
    wrong = next((text for text in texts if not isinstance(text, str)), None)
    if wrong is not None:
        raise ValueError(f"kernels of letter sequences need texts; got {wrong!r}")
    return texts
