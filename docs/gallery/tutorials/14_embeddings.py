"""
Embeddings
==========

Two samples of images or texts differ: **which images, which texts?** An embedding turns an image or
a text into a row of some hundred numbers. The columns have no meaning of their own: that
"column 38" changed does not help. Look at the rows that are most typical of the difference instead.

These rows are the pixels of handwritten digits in two random halves. Most images of the digit 3 are
missing in the second half:
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

import isodepth

rng = np.random.default_rng(0)
images, digits = load_digits(return_X_y=True)
order = rng.permutation(len(images))
first, second = order[:900], order[900:]
second = second[(digits[second] != 3) | (rng.random(len(second)) < 0.2)]

result = isodepth.two_sample_test(images[first], images[second], random_state=0)
print(result.headline)

# %%
# ``typical_rows`` returns the rows of each sample that are most extreme along the direction in
# which the means differ most. The most typical images of the first half are those that the second
# half lacks:

typical = result.typical_rows(8)
figure, axes = plt.subplots(2, 8, figsize=(8, 2.4), layout="constrained")
for sample, half, row in (("X", first, axes[0]), ("Y", second, axes[1])):
    for index, ax in zip(typical.indices(sample), row, strict=True):
        ax.imshow(images[half[index]].reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
axes[0, 0].set_ylabel("first")
axes[1, 0].set_ylabel("second")
figure.suptitle("Images that are most typical of each half")

# %%
# **Texts.** Here are 600 support tickets each of March and April. In April an update broke the
# login of some users:

things = ["invoice", "parcel", "order", "refund", "subscription", "discount code", "gift card"]
problems = [
    "My {} has not arrived yet.",
    "I was charged twice for my {}.",
    "Please cancel the {} of last week.",
    "The {} shows the wrong address.",
    "Where can I find my {}?",
    "How do I change the {} in my account?",
]
endings = ["", " Thank you.", " Please help.", " I need an answer today.", " Kind regards."]
login = [
    "Since the update I cannot log in any more.",
    "The app asks for my password again and again after the update.",
    "Login fails with an error message since the new version.",
]


def tickets(rng, n_rows, share_of_login):
    """Return texts; `share_of_login` is the share of tickets about the login."""
    texts = []
    for _ in range(n_rows):
        text = rng.choice(problems).format(rng.choice(things))
        if rng.random() < share_of_login:
            text = rng.choice(login)
        texts.append(f"{text}{rng.choice(endings)}")
    return texts


rng = np.random.default_rng(0)
march, april = tickets(rng, 600, 0.0), tickets(rng, 600, 0.06)

# %%
# Any model can make the embedding. A simple one consists of word frequencies, reduced to 60
# columns. It is fitted to all texts together: a model of one month alone would treat the months
# differently.

words = TfidfVectorizer(sublinear_tf=True).fit_transform(march + april)
rows = TruncatedSVD(60, random_state=0).fit_transform(words)
X, Y = rows[:600], rows[600:]
result = isodepth.two_sample_test(X, Y, random_state=0)
result

# %%
# The texts behind the rows that are most typical of April name the problem:

typical = result.typical_rows(8)
for row in typical.indices("Y"):
    print(april[row])

# %%
# The rows that are most typical of March are ordinary tickets: nothing disappeared.

for row in typical.indices("X"):
    print(march[row])

# %%
# The table shows how typical these rows are. If the samples did not differ, about half of the 5% of
# all rows that are most extreme towards April would be from April. A row is scored along a
# direction that was estimated without this row, so that rows do not look typical by chance.

typical
