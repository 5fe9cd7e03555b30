# SPDX-License-Identifier: BSD-3-Clause
"""How good predictions are. Each measure is written out, so that peers and kloom are judged by the same lines."""
import numpy as np

SMALLEST = 1e-15  # probabilities below count as this one in the log loss
BINS = 15         # of equal width, for the calibration error
DRAWS = 100       # of labels, for the calibration error that chance alone makes


def measure(prediction, truth, task):
    """A dictionary of measures; None for what the prediction does not allow."""
    if task == "regression":
        return measure_numbers(prediction, truth)
    correct = np.asarray(prediction.labels).astype(str) == truth.astype(str)
    accuracy = float(np.mean(correct))
    found = {"accuracy": accuracy, "se": float(np.sqrt(accuracy * (1 - accuracy) / len(truth)))}
    if prediction.probabilities is not None:
        classes = [str(name) for name in prediction.classes]
        found.update(measure_probabilities(np.asarray(prediction.probabilities, dtype=float), classes, truth.astype(str)))
    return found


def measure_probabilities(probabilities, classes, truth):
    """Log loss and expected calibration error. A class that training never saw has probability 0."""
    if not np.all(np.isfinite(probabilities)):
        raise ValueError("probabilities are not finite")
    sums = probabilities.sum(axis=1, keepdims=True)
    probabilities = probabilities / np.where(sums > 0, sums, 1.0)
    place = {name: number for number, name in enumerate(classes)}
    of_truth = np.array([row[place[name]] if name in place else 0.0 for row, name in zip(probabilities, truth)])
    log_loss = -np.mean(np.log(np.clip(of_truth, SMALLEST, 1.0)))
    confidence = probabilities.max(axis=1)
    correct = np.array(classes)[probabilities.argmax(axis=1)] == truth
    return {"log_loss": float(log_loss), "ece": calibration_error(confidence, correct), "ece_by_chance": error_by_chance(confidence)}


def calibration_error(confidence, correct):
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    error = 0.0
    for number in range(BINS):
        inside = bins == number
        if inside.any():
            error += inside.mean() * abs(correct[inside].mean() - confidence[inside].mean())
    return float(error)


def error_by_chance(confidence):
    """The mean calibration error if every confidence were exactly right: bins of few rows are never even."""
    dice = np.random.default_rng(0)
    return float(np.mean([calibration_error(confidence, dice.random(len(confidence)) < confidence) for _ in range(DRAWS)]))


def measure_numbers(prediction, truth):
    mean = np.asarray(prediction.mean, dtype=float)
    if not np.all(np.isfinite(mean)):
        raise ValueError("predictions are not finite")
    squares = (mean - truth) ** 2
    variance = float(np.var(truth)) or 1.0
    found = {"r2": float(1 - squares.mean() / variance), "rmse": float(np.sqrt(squares.mean())),
             # Standard error of R2 from the spread of squared errors, the variance of the target taken as known.
             "se": float(squares.std() / np.sqrt(len(truth)) / variance)}
    if prediction.lower is not None:
        lower, upper = (np.asarray(end, dtype=float) for end in (prediction.lower, prediction.upper))
        found["coverage"] = float(np.mean((lower <= truth) & (truth <= upper)))
        found["width"] = float(np.mean(upper - lower) / np.sqrt(variance))  # in deviations of the target
    return found
