"""Correlation of metrics with human judgment of summaries, REALSumm (the paper's appendix).

There are 100 documents, with 14 abstractive and 11 extractive systems. A summary is judged by the
number of facts of the reference that it contains. The paper does not state the level of its
correlations, so both levels of its Appendix E are printed, each next to its cells. The encoder is
all-MiniLM-L6-v2. The paper's own setting is `--model bert-base-uncased --layer 9`, if those weights
are available.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import numpy as np

from experiments.framework.verdict import Verdict, outcome
from experiments.texts.command import parser, score_corpus, settle
from experiments.texts.corpus import REALSUMM_FILES, Corpus, DataMissingError, load_realsumm
from experiments.texts.correlations import Agreement, agreements, by_metric
from experiments.texts.figure import correlation_figure
from experiments.texts.findings import against, controls, halves
from experiments.texts.output import write_results
from experiments.texts.published import SUMMARIZATION, SUMMARIZATION_JUDGMENTS, by_judgment
from experiments.texts.scoring import Scored
from experiments.texts.tables import correlation_table

FAIR = ("W", "Sliced-W", "MMD, width 0.05")
LEVELS = ("system", "text")
#: Metrics that are slow on long texts and not in the paper's table.
UNASKED = ("TER", "DR, AI-IRW shrunk")
PUBLISHED = by_judgment(SUMMARIZATION, SUMMARIZATION_JUDGMENTS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    made = parser("summarization", __doc__ or "", "the paper: bert-base-uncased with --layer 9")
    made.add_argument(
        "--kinds", nargs="+", choices=list(REALSUMM_FILES), metavar="KIND",
        default=list(REALSUMM_FILES), help="abstractive, extractive or both",
    )  # fmt: skip
    options = made.parse_args(arguments)
    settle(options)
    if options.data is None:
        print("--data DIR is needed: a folder with realsumm_abs.jsonl and realsumm_ext.jsonl; they "
              "are not part of the project (python -m experiments.texts.convert --help)",
              file=sys.stderr)  # fmt: skip
        return 2
    results: list[Agreement] = []
    others: list[Agreement] = []
    for kind in options.kinds:
        try:
            corpus = load_realsumm(options.data, kind)
        except DataMissingError as error:
            print(error, file=sys.stderr)
            return 2
        scored, _ = score_corpus(corpus, options, UNASKED)
        part = corpus.part(options.texts) if options.texts else corpus
        human = {kind: part.ratings("litepyramid_recall")}
        ours = agreements(scored, human, LEVELS, options.resamples)
        theirs = agreements(_published_scores(part), human, LEVELS, options.resamples)
        _print(kind, scored, human[kind], ours, theirs, options.resamples)
        results += ours
        others += theirs
    write_results(
        options.out,
        "summarization",
        [*results, *(_named(one) for one in others)],
        lambda: correlation_figure(results, PUBLISHED, LEVELS, others),
    )
    return 0


def _published_scores(corpus: Corpus) -> dict[str, Scored]:
    return {
        name: Scored(name, [corpus.table(values)], 0.0) for name, values in corpus.published.items()
    }


def _named(one: Agreement) -> Agreement:
    return Agreement(f"{one.metric} (REALSumm's)", one.judgment, one.level, one.runs, one.interval)


def _print(
    kind: str,
    scored: Mapping[str, Scored],
    human: np.ndarray,
    agreements: Sequence[Agreement],
    others: Sequence[Agreement],
    resamples: int,
) -> None:
    print(
        f"\n# {kind}\n\nCorrelations times 100, negative where a metric points the wrong way. "
        "Behind r: the 95% interval over texts, half the spread over seeds, [the paper's absolute "
        "one, at a level it does not name]. REALSumm's are the scores that its authors published.\n"
    )
    for level in LEVELS:
        print(f"\n## {kind}, {level} level\n")
        print(correlation_table([*agreements, *map(_named, others)], level, PUBLISHED))
    if "DR" not in scored:
        return
    compared = [name for name in scored if name != "DR"]
    print(f"\n## {kind}: is DR better? Pearson |r|, p-values one-sided\n")
    print(against(scored, human, compared, resamples))
    print(f"\n## {kind}: variants on both halves of the texts, Pearson r\n")
    print(halves(scored, human))
    print(f"\n## {kind}: verdicts\n")
    for verdict in judge(kind, agreements):
        print(f"{verdict}\n")


def judge(kind: str, agreements: Sequence[Agreement]) -> list[Verdict]:
    """Return verdicts on the statements of the paper about its table of summaries.

    `kind` is that of the systems, "abstractive" or "extractive".
    """
    verdicts = []
    statements = [("DR is stronger than W, Sliced-W and MMD (r)", FAIR, (0,))]
    if kind == "extractive":
        statements.append(
            ("DR outperforms BERTScore and MoverScore (r and tau)", ("BERTScore", "MoverScore"),
             (0, 1))
        )  # fmt: skip
    for level in LEVELS:
        here = by_metric(agreements, kind, level)
        values = {name: one.means for name, one in here.items()}
        for statement, compared, which in statements:
            there = [name for name in compared if name in here]
            if not there:
                continue
            shown = ", ".join(
                f"{name} {' and '.join(f'{values[name][k]:.1f}' for k in which)}"
                for name in ("DR", *there)
            )
            verdicts.append(
                Verdict(
                    f"{kind}, read at {level} level: {statement}",
                    shown,
                    outcome(values["DR"][k] > values[name][k] for name in there for k in which),
                )
            )
        if len(here["DR"].runs[0]) > 1:
            verdicts.append(
                Verdict(
                    f"{kind}, {level} level: DR spreads by less than a point over seeds (r)",
                    f"{here['DR'].spread:.2f} over {len(here['DR'].runs[0])} seeds",
                    outcome([here["DR"].spread < 1]),
                    "isodepth",
                )
            )
        verdicts += controls(here, f"{kind}, {level} level: ")
    return verdicts


if __name__ == "__main__":
    raise SystemExit(main())
