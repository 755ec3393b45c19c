"""Declarations of the options of all functions, classes and commands.

An option has one name and one meaning. A function whose values or default differ changes the
declaration with `Options.change`.
"""

from __future__ import annotations

from math import inf

from isodepth.base.options import (
    OWNERS,
    UNLIMITED,
    Anything,
    Boolean,
    Choice,
    Integer,
    Number,
    Option,
    Options,
    Precision,
    Seed,
    Threads,
)  # fmt: skip

#: Default significance level.
ALPHA = 0.05
#: Names of the depth functions.
DEPTHS = ("projection", "halfspace", "irw", "ai_irw")
#: Families of directions.
FAMILIES = ("uniform", "sobol", "orthogonal", "equispaced")
#: Default number of levels of region tables, and of samples that are read in chunks.
TABLE_LEVELS = 20

_LABELS = Anything("str or array-like of labels", "LabelsLike")
_LEVEL = Number(0, 1, low_open=True, high_open=True)
_PROGRESS = Option("progress", Boolean(), False, "Whether to show a progress bar (needs tqdm).")
_KINDS = Option("kinds", Anything("dict", "KindsLike"), None,
                "Kinds of columns of data frames, by name.", "")  # fmt: skip
_WEIGHTS = Option("weights", Anything("pair of arrays", "Sequence[VectorLike | None]"), None,
                  "Weights of the rows of each sample; None for equal weights.", "")  # fmt: skip
_BLOCKS = Option("blocks", _LABELS, None,
                 "Labels of dependent rows that are permuted together, or the column with them.",
                 "")  # fmt: skip
_TOLERANCE = Option("tolerance", Number(0, 0.5, high_open=True), None,
                    "Share of the rows of each sample that may be contaminated.", "",
                    "5% is 0.05")  # fmt: skip
_ALPHA = Option("alpha", _LEVEL, ALPHA, "Significance level of the test.",
                hint="the level of a test with 95% confidence is 0.05")  # fmt: skip
_SEED = Option("random_state", Seed(), None,
               "Seed of the random numbers; an integer makes the result reproducible.")  # fmt: skip
_N_JOBS = Option("n_jobs", Threads(), None, "Number of threads, without effect on the result; "
                 "None or -1 for all available cores.")  # fmt: skip

#: Options of `isodepth.Metric`.
METRIC = Options(
    Option("depth",
           Anything('{"projection", "halfspace", "irw", "ai_irw"}, estimator or callable',
                    "DepthLike"), "projection",
           "Depth function that orders the rows from the center outwards."),
    Option("p", Number(0, inf, low_open=True), 2,
           "Order of the mean over levels; inf for the maximum."),
    Option("q", Number(1, inf), inf,
           "Order of the mean over directions; inf for the supremum, as in the paper."),
    Option("eps", Number(0, 1, low_open=True), 0.1,
           "Fraction of each sample that is trimmed: the least deep rows."),
    Option("n_directions", Integer(1), 1000, "Number of directions."),
    Option("directions",
           Anything('{"uniform", "sobol", "orthogonal", "equispaced"} or array of shape (K, d)',
                    "DirectionsLike"), "uniform",
           "Family of directions, or an array of them, as in `unit_vectors`."),
    Option("levels", Anything('"exact" or int', "Literal['exact'] | int | RandomLevels"), None,
           "Number of levels of a grid, or exact for the integral over all levels.",
           "exact, and 20 for samples that are read in chunks"),
    Option("normalize", Boolean(), True, "Whether to divide the integral over levels by 1 - eps."),
    Option("refine", Integer(0), None, "Number of steps of ascent from the best directions.",
           "20 if q is infinite, else 0"),
    Option("gap", Choice(("search", "exact")), "search",
           'How to compute the gap of a level: "exact" is the supremum over all directions.'),
    Option("scale", Anything('"pooled", "reference" or array of shape (d,)', "ScaleLike"), None,
           'Units of the columns: "pooled" or "reference" for the robust standard deviation in '
           "both samples or in X, an array of divisors, or None for coordinates as they are.", "",
           type="ScaleLike"),
    Option("nan_policy", Choice(("raise", "omit"), {
               "keep": "{--nan_policy='keep'} is an option of tests and monitors, which keep rows "
               "with missing values; distances cannot: use {--nan_policy='omit'}, which drops "
               "these rows, or impute the values"}), "raise",
           "Treatment of missing values: raise an error, or drop the rows with missing values.",
           type="NanPolicy"),
    Option("dtype", Precision(), None, "Precision of the computation.", "that of the data"),
    _SEED, _N_JOBS,
    Option("memory_mb", Number(0, low_open=True, high_open=True), None,
           "Bound on the working memory in MB, without effect on the result.", "256"),
)  # fmt: skip

#: Options of `distance` and `compare`.
DISTANCE = Options(_WEIGHTS, _KINDS) | METRIC.change(
    "levels", allowed=Anything('"exact" or int', "Literal['exact'] | int")
)

#: Options of functions of region tables, which need a fixed grid of levels.
TABLES = METRIC.without("gap", "refine").change(
    "levels", allowed=Integer(1), default=TABLE_LEVELS, none=None,
    text="Number of levels, the midpoints of intervals of equal length.",
    hint="region tables need a fixed grid of levels",
)  # fmt: skip
TABLE_DTYPE = Option("table_dtype", Precision(), "float64",
                     "Precision of the support values in region tables.")  # fmt: skip

#: Options of `pairwise` and `region_tables` besides those of the metric.
MANY = Options(
    Option("by", Anything("str or sequence of str", "str | Sequence[str]"), None,
           "Columns of one data frame whose values define the samples.", ""),
    _WEIGHTS, _KINDS, _PROGRESS, TABLE_DTYPE,
)  # fmt: skip

#: Options of `two_sample_test`.
TEST = Options(
    Option("method", Anything('{"aggregated", "regions"} or Metric',
                              "Literal['aggregated', 'regions'] | Metric"), "aggregated",
           '"aggregated" combines all statistics; "regions" or a metric uses the distance alone.'),
    Option("n_permutations", Integer(1), 999, "Number of permutations of the labels."),
    _TOLERANCE, _ALPHA, _BLOCKS,
    Option("scale", Anything('"pooled" or array of shape (d,)', "Literal['pooled'] | VectorLike"),
           "pooled", 'Units of the columns: "pooled" for the robust standard deviation in both '
           "samples, an array of divisors, or None for coordinates as they are.", ""),
    Option("nan_policy", Choice(("keep", "raise"), {
               "omit": "{--nan_policy='omit'} drops rows with missing values, which tests and "
               "monitors never do; use {--nan_policy='keep'}, or drop the rows before the call"}),
           "keep", "Treatment of missing values: compare each row by the values that it has, or "
           "raise an error.", type="TestNanPolicy"),
    _KINDS,
    Option("max_rows", Integer(2), None,
           "Maximum number of random rows of samples that are read in chunks.",
           "10^6 values, and at least 10^4 rows"),
    Option("n_directions", Integer(1), None, "Number of directions.",
           "100 to 200, or 100 more than columns"),
    Option("bounds", Boolean(), True,
           "Whether to compute lower bounds for the share of rows that changed."),
    _SEED, _N_JOBS, _PROGRESS,
)  # fmt: skip

#: Options of `Monitor`.
MONITOR = Options(
    Option("alpha", _LEVEL, None, "Upper bound on the probability of any false alarm.",
           "0.01 without arl", _ALPHA.hint),
    Option("arl", Number(1, low_open=True, high_open=True), None,
           "In place of alpha: lower bound on the mean number of batches between false alarms.",
           ""),
    _TOLERANCE,
    Option("patience", Integer(1, 100), 1,
           "Number of windows with a p-value up to their threshold that raise an alarm."),
    _BLOCKS,
    Option("groups", _LABELS, None,
           "Labels of groups of rows that are watched separately, or the column with them.", ""),
    _KINDS, TEST["nan_policy"], _SEED,
    Option("path", Anything("str or path-like", "str | os.PathLike[str]"), None,
           "File to which the monitor is saved after every batch.", ""),
    Option("overwrite", Boolean(), False, "Whether to replace an existing monitor at `path`."),
)  # fmt: skip

#: Options of `scan`.
SCAN = Options(
    Option("weights", Anything("str or int", "Any"), None, "Column with the weight of each row.",
           "", type="Any"),
    METRIC["dtype"],
    Option("chunk_rows", Integer(1), None, "Maximum number of rows to read at a time.",
           "a number that fits into the working memory"),
)  # fmt: skip

#: Options of `isodepth.text.Encoder`.
ENCODER = Options(
    Option("model", Anything("str or path-like", "Any"), None,
           "Name on the Hugging Face hub, or a folder.", "all-MiniLM-L6-v2", type="Any"),
    Option("layer", Integer(0), None, "Index of the hidden state of the model.", "the last"),
    Option("special_tokens", Choice(("drop", "keep")), "drop",
           "Treatment of the vectors of tokens that the tokenizer adds.", type="str"),
    Option("max_length", Integer(3), None, "Maximum number of tokens per text.",
           "the limit of the model"),
    Option("batch_size", Integer(1), 32, "Number of texts per forward pass."),
    Option("device", Anything("str", "str"), None, "Device of the model.",
           "the first GPU, or the CPU"),
    Option("dtype", Precision(), "float64", "Precision of the forward pass of the model.",
           type="str"),
    Option("progress", Anything("bool", "bool"), None, "Whether to show a progress bar.",
           "a progress bar on a terminal"),
)  # fmt: skip

#: Options of `isodepth.text.DepthScore` besides those of the encoder.
SCORE = (
    METRIC.only("depth", "p", "q", "eps", "levels", "n_directions", "gap", "refine")
    .change("depth", default="irw_corrected", type="Any")
    .change("eps", default=0.01)
    .change("levels", default="exact", none=None, type="Any")
    .change("n_directions", default=None, none="4000")
    .change("gap", default=None, none="exact if q is infinite, else search", type="str | None")
    .change("refine", default=0, none=None)
) | Options(
    Option("multi_ref", Choice(("mean", "min")), "mean",
           "Mean or minimum of the distances from several references.", type="str"),
    Option("l2_normalize", Boolean(), True, "Whether to scale token vectors to length one."),
    Option("empty", Choice(("worst", "nan")), "worst", "Score of empty texts.", type="str"),
    Option("random_state", Integer(0, UNLIMITED), 0, "Seed of the random numbers.",
           hint="scores must be reproducible"),
    _N_JOBS,
)  # fmt: skip

OWNERS |= {"two_sample_test": TEST, "Monitor": MONITOR, "Metric": METRIC, "scan": SCAN}
