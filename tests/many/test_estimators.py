"""Transformers of bags: checks of scikit-learn, and pipelines with precomputed distances."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.validation import check_is_fitted

import isodepth
from isodepth import DistanceTransformer, RegionTransformer, pairwise, region_tables
from isodepth.errors import InvalidInputError

OPTIONS = {"levels": 5, "n_directions": 20, "random_state": 0}
RNG = np.random.default_rng(0)
LABELS = np.repeat([0, 1, 2], 12)
CENTRES = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
BAGS = [RNG.normal(CENTRES[label], 1, (int(RNG.integers(20, 40)), 2)) for label in LABELS]
MATRIX = pairwise(BAGS, **OPTIONS)
BOTH = [RegionTransformer, DistanceTransformer]


# -- checks of scikit-learn that do not need a two-dimensional array as input ---------------------


CHECKS = [
    name
    for name in (
        "check_estimator_cloneable",
        "check_do_not_raise_errors_in_init_or_set_params",
        "check_no_attributes_set_in_init",
        "check_get_params_invariance",
        "check_set_params",
        "check_estimator_repr",
        "check_valid_tag_types",
        "check_mixin_order",
        "check_estimator_tags_renamed",
        "check_parameters_default_constructible",
        "check_estimators_unfitted",
        "check_transformers_unfitted",
        "check_transformer_n_iter",
        "check_n_features_in_after_fitting",
        "check_fit1d",
    )
    if hasattr(estimator_checks, name)  # older versions have fewer
]


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize("check", CHECKS)
def test_checks_of_scikit_learn(estimator: type, check: str) -> None:
    getattr(estimator_checks, check)(estimator.__name__, estimator())


@pytest.mark.parametrize("estimator", BOTH)
def test_all_checks_that_scikit_learn_picks(estimator: type) -> None:
    # scikit-learn selects the few checks that apply without two-dimensional arrays.
    with pytest.warns(Warning, match="Can't test estimator"):
        estimator_checks.check_estimator(estimator(), on_skip=None)


@pytest.mark.parametrize("estimator", BOTH)
def test_clone_and_pickle(estimator: type) -> None:
    fitted = estimator(**OPTIONS, p=1).fit(BAGS[:10])
    fresh = clone(fitted)
    assert fresh.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        check_is_fitted(fresh)
    for error in (
        NotFittedError,
        isodepth.errors.NotFittedError,
        isodepth.errors.InvalidInputError,
    ):
        with pytest.raises(error, match="call fit"):
            fresh.transform(BAGS)
        with pytest.raises(error, match="call fit"):
            fresh.get_feature_names_out()
    restored = pickle.loads(pickle.dumps(fitted))
    assert (restored.transform(BAGS[:4]) == fitted.transform(BAGS[:4])).all()


@pytest.mark.parametrize("estimator", BOTH)
def test_directions_are_kept_after_fit(estimator: type) -> None:
    fitted = estimator(levels=3, n_directions=4).fit(BAGS[:5])
    assert (fitted.transform(BAGS) == fitted.transform(BAGS)).all()
    assert not (estimator(levels=3, n_directions=4).fit_transform(BAGS[:5]) ==
                fitted.transform(BAGS[:5])).all()  # fmt: skip


@pytest.mark.parametrize("estimator", BOTH)
def test_output_as_a_frame(estimator: type) -> None:
    pytest.importorskip("pandas")
    frame = estimator(**OPTIONS).set_output(transform="pandas").fit(BAGS[:6]).transform(BAGS[:3])
    assert len(frame) == 3
    assert len(set(frame.columns)) == frame.shape[1] == {"D": 6, "R": 5 * 40}[estimator.__name__[0]]


@pytest.mark.parametrize("estimator", BOTH)
def test_bad_bags(estimator: type) -> None:
    with pytest.raises(InvalidInputError, match="an array of shape"):
        estimator(**OPTIONS).fit(BAGS[0])
    fitted = estimator(**OPTIONS).fit(BAGS)
    with pytest.raises(InvalidInputError, match=r"and 1 in X\[1\]"):
        fitted.transform([BAGS[0], BAGS[1][:, :1]])
    with pytest.raises(InvalidInputError, match="columns differ: 2 and 1"):
        fitted.transform([BAGS[1][:, :1]])
    with pytest.raises(isodepth.errors.InvalidOptionError, match="table_dtype"):
        estimator(table_dtype="float16").fit(BAGS)


# -- features -------------------------------------------------------------------------------------


def test_rows_are_flattened_tables() -> None:
    transformer = RegionTransformer(**OPTIONS)
    rows = transformer.fit_transform(BAGS)
    assert rows.shape == (36, 5 * 40)
    assert (rows == region_tables(BAGS, **OPTIONS).values.reshape(36, -1)).all()
    assert transformer.n_features_in_ == 2


def test_rows_are_distances_to_the_fitted_bags() -> None:
    distance = DistanceTransformer(**OPTIONS)
    assert (distance.fit_transform(BAGS) == MATRIX).all()
    assert (distance.fit(BAGS[:20]).transform(BAGS[20:]) == MATRIX[20:, :20]).all()
    assert (distance.fit(BAGS).transform(BAGS) == MATRIX).all()


def test_float32_bags_are_taken_in_the_precision_of_the_fit() -> None:
    single = [bag.astype(np.float32) for bag in BAGS[:3]]
    distance = DistanceTransformer(**OPTIONS).fit(BAGS)
    assert (
        distance.transform(single) == distance.transform([b.astype(float) for b in single])
    ).all()


# -- in pipelines ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: make_pipeline(
            DistanceTransformer(**OPTIONS), KNeighborsClassifier(3, metric="precomputed")
        ),
        lambda: make_pipeline(RegionTransformer(**OPTIONS), KNeighborsClassifier(3)),
    ],
)
def test_nearest_neighbors(make) -> None:
    train, test = np.arange(36) % 3 != 0, np.arange(36) % 3 == 0
    model = clone(make()).fit([BAGS[i] for i in np.flatnonzero(train)], LABELS[train])
    assert (model.predict([BAGS[i] for i in np.flatnonzero(test)]) == LABELS[test]).all()
    assert cross_val_score(make(), BAGS, LABELS, cv=3).min() == 1.0


def test_settings_can_be_searched() -> None:
    model = make_pipeline(
        DistanceTransformer(**OPTIONS), KNeighborsClassifier(1, metric="precomputed")
    )
    search = GridSearchCV(model, {"distancetransformer__depth": ["projection", "halfspace"]}, cv=3)
    assert search.fit(BAGS, LABELS).best_score_ == 1.0


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize("first", ["float32", "float64"])
def test_the_first_bag_decides_the_precision(estimator: type, first: str) -> None:
    second = {"float32": "float64", "float64": "float32"}[first]
    bags = [BAGS[0].astype(first), BAGS[1].astype(second)]
    assert estimator(**OPTIONS).fit(bags).metric_.dtype == first
    assert estimator(dtype=second, **OPTIONS).fit(bags).metric_.dtype == second


@pytest.mark.parametrize("estimator", BOTH)
def test_defaults_are_those_of_the_metric_on_a_grid_of_twenty_levels(estimator: type) -> None:
    found = estimator().get_params()
    metric = isodepth.Metric()
    for name in ("depth", "p", "eps", "n_directions", "directions", "normalize", "dtype"):
        assert found[name] == getattr(metric, name)
    assert (found["n_directions"], found["p"], found["eps"]) == (1000, 2, 0.1)
    assert found["levels"] == 20
    assert found["table_dtype"] == "float64"
