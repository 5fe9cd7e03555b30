# SPDX-License-Identifier: BSD-3-Clause
"""Numbers with intervals

`GPMKLRegressor` chooses among widths by the evidence, and each prediction comes with a standard deviation: wide where nothing
was seen.
"""
import matplotlib.pyplot as plt
import numpy as np

from kloom import GPMKLRegressor, KernelWeightsDisplay

generator = np.random.RandomState(4)
x = np.concatenate([generator.uniform(-3, 0, 60), generator.uniform(1.5, 3, 40)])[:, None]


def truth(x):
    return np.sin(3 * x[:, 0]) + 0.5 * x[:, 0]


y = truth(x) + 0.25 * generator.normal(size=100)
model = GPMKLRegressor(kernels="rbf(width=2^-3..2^2); linear").fit(x, y)

# %%
# Between 0 and 1.5 there were no samples, and the interval says so.
places = np.linspace(-3.5, 3.5, 300)[:, None]
mean, deviation = model.predict(places, return_std=True)
figure, axes = plt.subplots()
axes.fill_between(places[:, 0], mean - 1.645 * deviation, mean + 1.645 * deviation, alpha=0.25, label="90 % interval")
axes.plot(places[:, 0], mean, label="prediction")
axes.plot(places[:, 0], truth(places), color="0.4", linestyle="--", label="truth")
axes.scatter(x[:, 0], y, s=10, color="0.2")
axes.legend()

# %%
# Of new samples about 90 % should be within it:
new_x = generator.uniform(-3, 0, 500)[:, None]
new_y = truth(new_x) + 0.25 * generator.normal(size=500)
mean, deviation = model.predict(new_x, return_std=True)
print(f"within the interval: {(np.abs(new_y - mean) < 1.645 * deviation).mean():.0%}")
KernelWeightsDisplay.from_estimator(model)
plt.title("Widths chosen by the evidence")
