# SPDX-License-Identifier: BSD-3-Clause
"""Numbers out of columns for the peers: what a careful user of scikit-learn would write for an unknown table.

  numbers            median for missing values, standardised
  mostly-zero counts as they are, but for one common factor (standardising would blow up rare columns)
  categories         one column per category of the training part, standardised with the numbers; a missing value is all zeros
  sentences          tf-idf of words
  strings            tf-idf of character n-grams (sequences, molecules, names of things)
"""
import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

MOSTLY_ZERO = 0.8      # share of zeros from which a block of counts is left unscaled
FREE_TEXT = 0.5        # share of distinct cells from which a column is text rather than categories
FEWEST_TEXTS = 20      # ... and at least that many distinct ones
SPARSE_BELOW = 0.25    # share of nonzeros below which the matrix is kept sparse


def to_number(cell):
    try:
        return float(cell) if cell.strip() else np.nan
    except ValueError:
        return None


def number_column(cells):
    """The column as numbers with nan for empty cells; None if a cell is neither."""
    try:  # The quick way for columns without holes.
        return np.array(list(map(float, cells)))
    except ValueError:
        pass
    numbers = []
    for cell in cells:
        number = to_number(cell)
        if number is None:
            return None
        numbers.append(number)
    return np.array(numbers)


class Numbers:
    """Numeric columns of one view."""

    def __init__(self, scale, impute):
        self.scale, self.impute = scale, impute

    def fit(self, x):
        with np.errstate(all="ignore"):
            known = ~np.isnan(x)
            self.kept = known.any(axis=0)
            x = x[:, self.kept]
            self.median = np.nanmedian(x, axis=0)
        filled = np.where(np.isnan(x), self.median, x)
        counts = (x.size > 0 and filled.shape[1] > 10 and np.mean(filled == 0) >= MOSTLY_ZERO
                  and np.all(filled >= 0) and np.all(filled == np.round(filled)))
        if counts or not self.scale:
            self.mean = np.zeros(filled.shape[1])
            common = np.sqrt(np.mean(filled[filled != 0] ** 2)) if counts and self.scale and filled.any() else 1.0
            self.deviation = np.full(filled.shape[1], common)
        else:
            self.mean, self.deviation = filled.mean(axis=0), filled.std(axis=0)
            self.deviation[self.deviation == 0] = 1.0
        return self

    def transform(self, x):
        x = x[:, self.kept]
        if self.impute:
            x = np.where(np.isnan(x), self.median, x)
        return (x - self.mean) / self.deviation


class Categories:
    def __init__(self, scale):
        self.scale = scale

    def fit(self, cells):
        self.names = sorted({cell for cell in cells if cell.strip()})
        share = np.array([sum(cell == name for cell in cells) / len(cells) for name in self.names])
        self.mean = share if self.scale else np.zeros(len(share))
        spread = np.sqrt(share * (1 - share))
        self.deviation = np.where(spread > 0, spread, 1.0) if self.scale else np.ones(len(share))
        return self

    def transform(self, cells):
        place = {name: number for number, name in enumerate(self.names)}
        x = np.zeros((len(cells), len(self.names)))
        for row, cell in enumerate(cells):
            if cell in place:
                x[row, place[cell]] = 1.0
        return (x - self.mean) / self.deviation


def words_in(cells):
    filled = [cell for cell in cells if cell.strip()]
    return np.mean([len(cell.split()) for cell in filled]) if filled else 0.0


def is_free_text(cells):
    filled = [cell for cell in cells if cell.strip()]
    distinct = len(set(filled))
    return distinct >= FEWEST_TEXTS and distinct > FREE_TEXT * len(filled)


def text_encoder(cells, most_terms):
    """Words where cells are sentences, else pieces of two to four characters."""
    if words_in(cells) >= 2:
        return TfidfVectorizer(sublinear_tf=True, max_features=most_terms, token_pattern=r"(?u)\b\w+\b")
    return TfidfVectorizer(analyzer="char", ngram_range=(1, 4), sublinear_tf=True, lowercase=False, max_features=most_terms)


class Encoder:
    """All columns of a table, or those in `columns`, as one matrix.

    scale=False for trees, which need none; impute=False where missing values are understood; dense=True where sparse
    matrices are not; most_terms limits the columns that texts make.
    """

    def __init__(self, columns=None, scale=True, impute=True, dense=False, most_terms=None):
        self.columns, self.scale, self.impute = columns, scale, impute
        self.dense, self.most_terms = dense, most_terms

    def fit(self, rows):
        numbers = range(len(rows[0])) if self.columns is None else self.columns
        self.numeric, self.parts = [], []
        values = []
        for column in numbers:
            cells = [row[column] for row in rows]
            found = number_column(cells)
            if found is not None:
                self.numeric.append(column)
                values.append(found)
            elif is_free_text(cells):
                try:
                    self.parts.append((column, text_encoder(cells, self.most_terms).fit(cells)))
                except ValueError:  # no word in any cell
                    continue
            else:
                self.parts.append((column, Categories(self.scale).fit(cells)))
        self.block = Numbers(self.scale, self.impute).fit(np.column_stack(values)) if values else None
        return self

    def _blocks(self, rows):
        blocks = []
        if self.block is not None:
            x = np.column_stack([self._numbers(rows, column) for column in self.numeric])
            blocks.append(self.block.transform(x))
        for column, part in self.parts:
            blocks.append(part.transform([row[column] for row in rows]))
        return blocks or [np.zeros((len(rows), 1))]

    @staticmethod
    def _numbers(rows, column):
        """A text in the test part of a column that held numbers in training is a missing value."""
        cells = [row[column] for row in rows]
        found = number_column(cells)
        if found is None:
            found = np.array([np.nan if to_number(cell) is None else to_number(cell) for cell in cells])
        return found

    def _join(self, blocks):
        if not self.sparse:
            return np.hstack([block.toarray() if sparse.issparse(block) else block for block in blocks])
        return sparse.csr_matrix(sparse.hstack([sparse.csr_matrix(block) for block in blocks]))

    def fit_transform(self, rows):
        blocks = self.fit(rows)._blocks(rows)
        # Decided once: estimators that were fitted on sparse matrices refuse dense ones.
        stored = sum(block.nnz if sparse.issparse(block) else np.count_nonzero(block) for block in blocks)
        size = sum(block.shape[0] * block.shape[1] for block in blocks)
        self.sparse = not self.dense and stored < SPARSE_BELOW * size
        return self._join(blocks)

    def transform(self, rows):
        return self._join(self._blocks(rows))
