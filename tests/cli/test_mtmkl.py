# SPDX-License-Identifier: BSD-3-Clause
"""Spike and slab against a transcription with dense inverses, sample by sample, and against the evidence itself.

The transcription works with the kernels as they are and their inverses; the program with their eigenvectors.
"""
import csv
import io

import numpy
import pytest
import scipy.special
import scipy.stats
from conftest import FAILED, MISTAKE, edit_model
from test_samkl import tensors_of

SAMPLES, FRESH, KERNELS = 30, 7, 4


def problem(tmp_path, outputs, seed=2):
    """Kernels of four columns with a ridge, so that they have inverses; outputs of the first and third."""
    generator = numpy.random.default_rng(seed)
    x = generator.normal(size=(SAMPLES + FRESH, KERNELS))
    kernels = [numpy.exp(-(x[:, None, m] - x[None, :, m]) ** 2 / 0.5) + 0.01 * numpy.eye(len(x)) for m in range(KERNELS)]
    kernels[1] *= 7.0   # their sizes are not to matter
    f = numpy.column_stack([numpy.sin(2 * x[:, 0]), numpy.cos(2 * x[:, 2])])
    y = 10 + 3 * (f @ generator.normal(size=(2, outputs)) + 0.2 * generator.normal(size=(len(x), outputs)))
    weights = generator.uniform(0.5, 2.0, SAMPLES)
    numpy.save(tmp_path / "train.npy", numpy.stack([k[:SAMPLES, :SAMPLES] for k in kernels], axis=2))
    numpy.save(tmp_path / "fresh.npy", numpy.stack([k[SAMPLES:, :SAMPLES] for k in kernels], axis=2))
    names = [f"y{q}" for q in range(outputs)]
    rows = [",".join([*names, "w"])] + [",".join(repr(float(v)) for v in [*row, w]) for row, w in zip(y[:SAMPLES], weights)]
    (tmp_path / "labels.csv").write_text("\n".join(rows) + "\n")
    return kernels, y[:SAMPLES], weights


def train(kloom, outputs, *more, weighted=False):
    return kloom("train", "labels.csv", "--target", ",".join(f"y{q}" for q in range(outputs)), *(["--weight", "w"] if weighted else ["--ignore", "w"]),
                 "--method", "mtmkl", "--kernel-file", "train.npy", "--kernels", "precomputed(normalise=none)", "-o", "m.kloom", "--json", *more).json()


class Transcription:
    """Titsias and Lázaro-Gredilla's posterior: factors, bound and updates by their formulas, with dense inverses."""

    def __init__(self, kernels, y, weights, arrays):
        total = weights.sum()
        self.centre = weights @ y / total
        self.scale = numpy.sqrt(weights @ (y - self.centre) ** 2 / total)
        self.y, self.u = (y - self.centre) / self.scale, weights
        self.sizes = [weights @ numpy.diag(k)[:len(y)] / total for k in kernels]
        self.kernels = [k[:len(y), :len(y)] / d for k, d in zip(kernels, self.sizes)]
        self.gamma, self.mu, self.v = (arrays[f"mtmkl.{name}"].copy() for name in ("inclusion", "location", "variance"))
        self.noise = arrays["mtmkl.noise"].copy()
        self.spread, self.share, self.least = arrays["mtmkl.prior"]
        self.mean = [k @ (a * d) for k, a, d in zip(self.kernels, arrays["mtmkl.functions"].T, self.sizes)]
        self.cov = [self.covariance(m) for m in range(len(kernels))]

    def precision(self, m):
        return (self.gamma[:, m] * (self.mu[:, m] ** 2 + self.v[:, m]) / self.noise).sum()

    def covariance(self, m):
        return numpy.linalg.inv(numpy.linalg.inv(self.kernels[m]) + self.precision(m) * numpy.diag(self.u))

    def error(self, q):
        """E of the weighted squares, sample by sample: the square of the mean and the variance of the sum."""
        total = 0.0
        for i, u in enumerate(self.u):
            mean = variance = 0.0
            for m in range(len(self.kernels)):
                a, b = self.gamma[q, m] * self.mu[q, m], self.gamma[q, m] * (self.mu[q, m] ** 2 + self.v[q, m])
                f, s = self.mean[m][i], self.cov[m][i, i]
                mean += a * f
                variance += b * (f * f + s) - (a * f) ** 2
            total += u * ((self.y[i, q] - mean) ** 2 + variance)
        return total

    def bound(self):
        bound = 0.0
        for q, noise in enumerate(self.noise):
            bound += -0.5 * self.u.sum() * numpy.log(2 * numpy.pi * noise) - 0.5 * self.error(q) / noise
        for kernel, mean, cov in zip(self.kernels, self.mean, self.cov):
            inverse = numpy.linalg.inv(kernel)
            bound -= 0.5 * (numpy.trace(inverse @ cov) + mean @ inverse @ mean - len(mean)
                            + numpy.linalg.slogdet(kernel)[1] - numpy.linalg.slogdet(cov)[1])
        for g, mu, v in zip(self.gamma.ravel(), self.mu.ravel(), self.v.ravel()):
            bound -= scipy.special.rel_entr(g, self.share) + scipy.special.rel_entr(1 - g, 1 - self.share)
            bound -= g * 0.5 * ((mu * mu + v) / self.spread - 1 - numpy.log(v / self.spread))
        return bound

    def rest(self, q, m):
        return self.y[:, q] - sum(self.gamma[q, n] * self.mu[q, n] * self.mean[n] for n in range(len(self.kernels)) if n != m)

    def sweep(self):
        """One update of everything, in an order of its own."""
        for m in reversed(range(len(self.kernels))):
            self.cov[m] = self.covariance(m)
            self.mean[m] = self.cov[m] @ sum(self.gamma[q, m] * self.mu[q, m] / self.noise[q] * self.u * self.rest(q, m) for q in range(len(self.noise)))
            for q, noise in enumerate(self.noise):
                second = self.u @ (self.mean[m] ** 2 + numpy.diag(self.cov[m]))
                self.v[q, m] = 1 / (second / noise + 1 / self.spread)
                self.mu[q, m] = self.v[q, m] / noise * (self.u * self.mean[m]) @ self.rest(q, m)
                slab = scipy.stats.norm.logpdf(0, 0, self.spread ** 0.5) - scipy.stats.norm.logpdf(0, self.mu[q, m], self.v[q, m] ** 0.5)
                self.gamma[q, m] = scipy.special.expit(scipy.special.logit(self.share) + slab)
        self.noise = numpy.maximum(self.least, [self.error(q) / self.u.sum() for q in range(len(self.noise))])
        self.spread = (self.gamma * (self.mu ** 2 + self.v)).sum() / self.gamma.sum()
        self.share = self.gamma.mean()


def transcribed(kloom, tmp_path, outputs, *more, weighted=False):
    kernels, y, weights = problem(tmp_path, outputs)
    report = train(kloom, outputs, *more, weighted=weighted)["report"]
    return Transcription(kernels, y, weights if weighted else numpy.ones(SAMPLES), tensors_of(tmp_path / "m.kloom")), report, kernels


# Inverses of kernels of condition 1e4 are right to 1e-12, and the bound sums a hundred numbers of up to a hundred.
@pytest.mark.parametrize("outputs, weighted", [(1, False), (3, False), (1, True), (3, True)])
@pytest.mark.parametrize("options", [(), ("--iterations", 3), ("--no-rescale",), ("--least-noise", 0.3)])
def test_the_bound_is_that_of_a_transcription(kloom, tmp_path, outputs, weighted, options):
    model, report, _ = transcribed(kloom, tmp_path, outputs, *options, weighted=weighted)
    assert report["objective"] == pytest.approx(model.bound(), abs=1e-8)
    certificate = {item["name"]: item["value"] for item in report["certificate"]["items"]}
    assert certificate["lower bound"] == pytest.approx(model.bound(), abs=1e-8)


@pytest.mark.parametrize("outputs", [1, 3])
def test_updates_of_a_transcription_have_nothing_to_add(kloom, tmp_path, outputs):
    model, report, _ = transcribed(kloom, tmp_path, outputs, "--tolerance", 0, "--iterations", 20000, weighted=True)
    before, gamma = model.bound(), model.gamma.copy()
    trace = [before]
    for _ in range(50):
        model.sweep()
        trace.append(model.bound())
    # A sum of a hundred terms of up to a hundred: rounding is below 1e-11, and a pass that gained less than that was the last.
    assert numpy.diff(trace).min() > -1e-9, "an update of the transcription is wrong"
    assert trace[-1] - before < 1e-7
    # Near a maximum the bound is flat to the second order.
    assert abs(model.gamma - gamma).max() < 1e-3


def test_the_transcription_does_not_end_higher_from_anywhere(kloom, tmp_path):
    """A bound of several maxima: on this problem no start that was tried leads to a higher one."""
    model, report, _ = transcribed(kloom, tmp_path, 3, "--tolerance", 1e-9)
    for seed in range(6):
        generator = numpy.random.default_rng(seed)
        other = transcribed(kloom, tmp_path, 3)[0]
        other.gamma[:], other.v[:], other.noise[:], other.spread, other.share = 0.5, 0.1, 0.3, 1.0, 0.5
        other.mu = generator.normal(size=other.mu.shape)
        other.mean = [kernel @ generator.normal(size=SAMPLES) * 0.1 for kernel in other.kernels]
        for _ in range(300):
            other.sweep()
        assert other.bound() < report["objective"] + 0.05


@pytest.mark.parametrize("options", [(), ("--no-rescale",)])
@pytest.mark.parametrize("outputs", [1, 3])
def test_no_pass_lowers_the_bound(kloom, tmp_path, outputs, options):
    problem(tmp_path, outputs)
    report = train(kloom, outputs, "--tolerance", 1e-10, *options, weighted=True)["report"]
    bounds = [point["objective"] for point in report["trace"]]
    assert len(bounds) > 10
    assert min(numpy.diff(bounds)) > -1e-9   # of rounding
    assert report["objective"] >= bounds[-1] - 1e-9, "the last update of the functions"


def log_evidence(y, kernels, noise, spread, share, keep=lambda used: True):
    """log of Σ_s p(s) ∫ p(w) N(y; 0, Σ s w² K + σ² I) dw, for two kernels: w² by its quantiles' grid in each direction."""
    nodes, masses = numpy.polynomial.hermite_e.hermegauss(80)
    masses = masses / masses.sum()
    terms = []
    for used in [(0, 0), (0, 1), (1, 0), (1, 1)]:
        if not keep(used):
            continue
        prior = sum(numpy.log(share if one else 1 - share) for one in used)
        for a, p in zip(nodes, masses):
            for b, r in zip(nodes, masses):
                if a < 0 or b < 0 or (not used[0] and a != nodes[40]) or (not used[1] and b != nodes[40]):
                    continue   # only squares matter, and of a kernel that is off nothing does
                mass = (numpy.log(2 * p) if used[0] else 0.0) + (numpy.log(2 * r) if used[1] else 0.0)
                covariance = noise * numpy.eye(len(y)) + spread * (used[0] * a * a * kernels[0] + used[1] * b * b * kernels[1])
                terms.append(prior + mass + scipy.stats.multivariate_normal.logpdf(y, cov=covariance))
    return scipy.special.logsumexp(terms)


@pytest.mark.parametrize("strength", [0.3, 2.0])
def test_the_bound_is_below_the_evidence_and_inclusions_are_on_its_side(kloom, tmp_path, strength):
    kernels = problem(tmp_path, 1)[0]
    generator = numpy.random.default_rng(3)
    two = kernels[0], kernels[3]   # of the last the output has nothing
    root = numpy.linalg.cholesky(two[0][:SAMPLES, :SAMPLES])
    y = strength * root @ generator.normal(size=SAMPLES) + 0.3 * generator.normal(size=SAMPLES)
    numpy.save(tmp_path / "train.npy", numpy.stack([k[:SAMPLES, :SAMPLES] for k in two], axis=2))
    (tmp_path / "labels.csv").write_text("y0,w\n" + "".join(f"{float(v)!r},1\n" for v in y))
    report = train(kloom, 1)["report"]
    model = Transcription(two, y[:, None], numpy.ones(SAMPLES), tensors_of(tmp_path / "m.kloom"))
    assert model.spread > 0.1, "or the comparison says little"
    setting = (model.y[:, 0], model.kernels, model.noise[0], model.spread, model.share)
    whole = log_evidence(*setting)
    assert report["objective"] < whole, "it is a lower bound"
    # A factored posterior knows the size of a function better than there is reason to: its weight has a deviation of about σ/√N and
    # not w/√(2N), which costs the logarithm of their ratio, 0.5 and 2 nats here, and something for each of the rest.
    assert report["objective"] > whole - numpy.log((model.spread / 2 / model.noise[0]) ** 0.5) - 2.0
    exact = [numpy.exp(log_evidence(*setting, keep=lambda used: used[m] == 1) - whole) for m in range(2)]
    assert exact[0] > 0.99 and model.gamma[0, 0] > 0.99
    assert exact[1] < 0.5 and model.gamma[0, 1] < exact[1], "a kernel that is off looks surer to be off than it is"


def test_predictions_and_deviations_are_those_of_a_transcription(kloom, tmp_path):
    model, _, kernels = transcribed(kloom, tmp_path, 3, weighted=True)
    out = kloom("predict", "m.kloom", "--kernel-file", "fresh.npy", "--contributions", "--contribution-deviations").out
    rows = list(csv.DictReader(io.StringIO(out)))
    for q in range(3):
        mean = numpy.full(FRESH, model.centre[q])
        variance = numpy.full(FRESH, model.noise[q])
        for m in range(KERNELS):
            cross = kernels[m][SAMPLES:, :SAMPLES] / model.sizes[m]
            inverse = numpy.linalg.inv(model.kernels[m])
            f = cross @ inverse @ model.mean[m]
            # Before any data the variance at a new sample is the mean one, 1.
            s = 1 - numpy.einsum("ij,jk,ik->i", cross, inverse - inverse @ model.cov[m] @ inverse, cross)
            a, b = model.gamma[q, m] * model.mu[q, m], model.gamma[q, m] * (model.mu[q, m] ** 2 + model.v[q, m])
            mean += model.scale[q] * a * f
            variance += b * (f * f + s) - (a * f) ** 2
        assert [float(row[f"prediction(y{q})"]) for row in rows] == pytest.approx(mean, rel=1e-9)
        # Kernels that hardly matter have the variance 1 throughout: a hundredth of the noise too much at most, all together.
        found = numpy.array([float(row[f"deviation(y{q})"]) for row in rows]) ** 2 / model.scale[q] ** 2
        assert (found > variance * (1 - 1e-9)).all() and (found < variance + 1e-2 * model.noise[q]).all()


def test_true_kernels_are_told_from_others(kloom, tmp_path):
    """Twenty data sets: outputs use two kernels of eight; how often a true one is above one half, and another one."""
    right = wrong = 0
    for seed in range(20):
        generator = numpy.random.default_rng(seed)
        x = generator.normal(size=(60, 8))
        y = numpy.column_stack([numpy.sin(2 * x[:, 0]) + x[:, 3], x[:, 3] - numpy.cos(2 * x[:, 5])])
        y += 0.3 * generator.normal(size=y.shape)
        rows = [",".join([*(f"x{d}" for d in range(8)), "y0", "y1"])] + [",".join(map(repr, map(float, row))) for row in numpy.hstack([x, y])]
        (tmp_path / "data.csv").write_text("\n".join(rows) + "\n")
        report = kloom("train", "data.csv", "--target", "y0,y1", "--method", "mtmkl", "--kernels", "rbf(width=1) on each", "-o", "m.kloom", "--json").json()["report"]
        table = next(t for t in report["tables"] if t["title"].startswith("probability"))
        used = {(int(row[0]) - 1, q) for row in table["rows"] for q in range(2) if row[1 + q] > 0.5}
        true = {(0, 0), (3, 0), (3, 1), (5, 1)}
        right, wrong = right + len(used & true), wrong + len(used - true)
    assert right >= 76, f"of 80 there are {right}"
    assert wrong <= 5, f"of 240 that are not there are {wrong}"


@pytest.mark.parametrize("array", ["mtmkl.inclusion", "mtmkl.location", "mtmkl.functions", "mtmkl.noise", "mtmkl.scale", "weights", "coefficients", "bias"])
def test_edited_models_are_refuted(kloom, tmp_path, array):
    problem(tmp_path, 2)
    train(kloom, 2)

    def change(numbers):
        largest = max(range(len(numbers)), key=lambda k: abs(numbers[k]))
        numbers[largest] *= 0.99
    edit_model(tmp_path / "m.kloom", tmp_path / "edited.kloom", array, change)
    assert "refuted" in kloom("check", "edited.kloom", "labels.csv", "--kernel-file", "train.npy", code=FAILED).sentence()


@pytest.mark.parametrize("bank", ["dense32", "low-rank", "computed"])
def test_the_referee_takes_other_banks_than_that_of_training(kloom, tmp_path, bank):
    generator = numpy.random.default_rng(8)
    x = generator.normal(size=(60, 3))
    rows = ["a,b,c,y"] + [",".join(map(repr, map(float, [*row, numpy.sin(2 * row[0]) + row[1] + 0.3 * generator.normal()]))) for row in x]
    (tmp_path / "data.csv").write_text("\n".join(rows) + "\n")
    kloom("train", "data.csv", "--target", "y", "--method", "mtmkl", "--kernels", "rbf(width=1) on each; linear", "--bank", bank, "-o", "m.kloom")
    for other in ("dense", bank):
        kloom("check", "m.kloom", "data.csv", "--bank", other)


def test_classes_and_kernels_of_no_function_are_refused(kloom, table, tmp_path):
    assert "does not do binary tasks" in kloom("train", "data.csv", "--method", "mtmkl", "-o", "m.kloom", code=MISTAKE).sentence()
    problem(tmp_path, 1)
    kernel = numpy.diag(numpy.linspace(-0.5, 1.0, SAMPLES))
    numpy.save(tmp_path / "train.npy", kernel[:, :, None])
    sentence = kloom("train", "labels.csv", "--target", "y0", "--ignore", "w", "--method", "mtmkl", "--kernel-file", "train.npy", "--kernels",
                     "precomputed(normalise=none)", "-o", "m.kloom", code=MISTAKE).sentence()
    assert "positive semidefinite" in sentence and "--clip-spectrum" in sentence


def write_waves(tmp_path, samples, columns):
    generator = numpy.random.default_rng(1)
    x = generator.normal(size=(samples, columns))
    y = numpy.column_stack([numpy.sin(2 * x[:, 0]) + x[:, 1], x[:, 1] - x[:, 2]]) + generator.normal(size=(samples, 2))
    rows = [",".join([*(f"x{d}" for d in range(columns)), "y0", "y1"])] + [",".join(map(repr, map(float, row))) for row in numpy.hstack([x, y])]
    (tmp_path / "data.csv").write_text("\n".join(rows) + "\n")
    return ["train", "data.csv", "--target", "y0,y1", "--method", "mtmkl", "--kernels", "rbf(width=0.5..2, count=30) on each; rbf(width=1..3, count=30) on all", "--no-rescale", "--tolerance", 0,
            "--iterations", 10000000, "--threads", 1, "-o", "m.kloom"]


def test_time_is_a_limit_that_keeps_a_model(kloom, tmp_path):
    result = kloom(*write_waves(tmp_path, 300, 3), "--time", "6s", "--json")
    assert result.json()["report"]["status"] == "stopped" and "--time 6s is over" in result.err
    kloom("check", "m.kloom", "data.csv")


def test_time_that_is_too_short_for_eigenvectors_says_so(kloom, tmp_path):
    sentence = kloom(*write_waves(tmp_path, 700, 3), "--time", "1s", code=FAILED).sentence()
    assert "before" in sentence and not (tmp_path / "m.kloom").exists()


def test_little_memory_is_refused_before_anything_is_computed(kloom, tmp_path):
    sentence = kloom(*write_waves(tmp_path, 300, 3), "--memory", "20MB", code=FAILED).sentence()
    assert "working memory" in sentence and "20 MB" in sentence


def test_compare_takes_it(kloom, tmp_path):
    write_waves(tmp_path, 60, 3)
    report = kloom("compare", "data.csv", "--target", "y0,y1", "--methods", "mtmkl,mkr", "--kernels", "rbf(width=1) on each", "--folds", 3, "--json").json()
    assert {one["method"] for one in report["methods"]} == {"mtmkl", "mkr"}
