"""
Tensors and gradients
=====================

The functions accept torch tensors on any device, and the distance has gradients: to find the rows
that matter, to move rows, or to train a model.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.datasets import load_iris

import isodepth
from isodepth.torch import DepthLoss

# %%
# Petals of two species of iris, as tensors. The distance is a tensor with the same value as for
# arrays.

iris = load_iris()
petals = torch.tensor(iris.data[:, 2:])
setosa, virginica = petals[iris.target == 0], petals[iris.target == 2]
print(isodepth.distance(setosa, virginica, random_state=0))
print(isodepth.distance(setosa.numpy(), virginica.numpy(), random_state=0))

# %%
# **Gradients.** Depths only determine the order of the rows. At every level the gap is a difference
# along one direction, so its gradient is known. Rows outside the deepest fraction ``1 - eps`` have
# a zero gradient.

moving = setosa.clone().requires_grad_()
isodepth.distance(moving, virginica, q=2, n_directions=200, random_state=0).backward()
n_moving = int((moving.grad.abs().sum(dim=1) > 0).sum())
print(
    f"{n_moving} of {len(moving)} rows have a gradient, in total {moving.grad.sum(dim=0).numpy()}"
)

# %%
# **A flow.** The rows of setosa follow the gradient to virginica. A tenth of the target is wrong,
# far up on the left, and no row moves there. :class:`isodepth.torch.DepthLoss` is the distance as a
# torch module, with new directions at every step.

generator = torch.Generator().manual_seed(0)
wrong = torch.tensor([1.5, 3.2]) + 0.08 * torch.randn(5, 2, generator=generator)
target = torch.cat([virginica, wrong.double()])
points = setosa.clone().requires_grad_()
loss = DepthLoss(q=2, eps=0.2, n_directions=50, resample=True)
optimizer = torch.optim.Adam([points], lr=0.1)
path, values = [points.detach().clone()], []
for _ in range(150):
    optimizer.zero_grad()
    value = loss(points, target)
    value.backward()
    optimizer.step()
    path.append(points.detach().clone())
    values.append(value.item())
print(f"distance {values[0]:.2f} at first, {values[-1]:.2f} at the end")

# %%

steps = torch.stack(path).numpy()
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.plot(steps[:, :, 0], steps[:, :, 1], color="0.85", linewidth=0.8, zorder=0)
for place, color, marker, name in (
    (setosa.numpy(), "#56b4e9", "o", "setosa: start"),
    (virginica.numpy(), "#d55e00", "s", "virginica: target"),
    (wrong.numpy(), "black", "x", "wrong rows of the target"),
    (steps[-1], "#0072b2", "o", "end"),
):
    left.scatter(*place.T, s=18, color=color, marker=marker, label=name)
left.set(xlabel="petal length (cm)", ylabel="petal width (cm)", ylim=(-0.1, 4.9))
left.legend(fontsize="small")
right.plot(np.arange(len(values)), values, color="#0072b2")
right.set(xlabel="step", ylabel="distance", yscale="log", title="Loss")

# %%
# On a GPU use ``X.cuda()``. The same seed gives the same directions. See :doc:`/tensors` for
# accuracy, memory and time.
