"""Correlation of metrics with human judgment on WebNLG 2020 (the paper's table on data to text).

16 systems, 178 inputs, three criteria, the first reference of each input, both levels of the
paper's Appendix E. The encoder is all-MiniLM-L6-v2, which needs no network; the paper used
roberta-base, layer 11, so the shape of the table is compared, not its cells. If those
weights are available, `--model roberta-base --layer 11` runs the setting of the paper.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import numpy as np

from experiments.framework.verdict import FAILS, HOLDS, Verdict, outcome
from experiments.texts.command import parser, score_corpus, settle
from experiments.texts.corpus import CRITERIA, DataMissingError, load_webnlg
from experiments.texts.correlations import Agreement, agreements, by_metric
from experiments.texts.figure import correlation_figure
from experiments.texts.findings import against, controls, halves
from experiments.texts.output import write_results
from experiments.texts.published import WEBNLG, WEBNLG_JUDGMENTS, by_judgment
from experiments.texts.scoring import Scored
from experiments.texts.tables import correlation_table

LEVELS = ("system", "text")
#: Metrics on the output of the same encoder.
FAIR = ("W", "Sliced-W", "MMD, width 0.05")
STATE_OF_THE_ART = ("BERTScore", "MoverScore")
#: Pearson r with correctness of an independent prototype with this encoder, first reference.
PROTOTYPE = {"W": 85.7, "Sliced-W": 87.1, "BERTScore": 84.7}
NEAR = 1.5


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    made = parser("webnlg", __doc__ or "", "the paper: roberta-base with --layer 11")
    made.add_argument(
        "--references", choices=("first", "all"), default="first",
        help="the first reference of each input, or all of them (the mean)",
    )  # fmt: skip
    options = made.parse_args(arguments)
    settle(options)
    if options.data is None:
        print("--data DIR is needed: a folder with webnlg2020_en.jsonl; it is not part of the "
              "project (python -m experiments.texts.convert --help)", file=sys.stderr)  # fmt: skip
        return 2
    try:
        corpus = load_webnlg(options.data)
    except DataMissingError as error:
        print(error, file=sys.stderr)
        return 2
    if options.references == "first":
        corpus = corpus.first_references()
    scored, _ = score_corpus(corpus, options)
    part = corpus.part(options.texts) if options.texts else corpus
    humans = {criterion: part.ratings(criterion) for criterion in CRITERIA}
    results = agreements(scored, humans, LEVELS, options.resamples)
    published = by_judgment(WEBNLG, WEBNLG_JUDGMENTS)
    _print(scored, humans, results, options.resamples)
    write_results(
        options.out, "webnlg", results, lambda: correlation_figure(results, published, ("system",))
    )
    return 0


def _print(
    scored: Mapping[str, Scored],
    humans: Mapping[str, np.ndarray],
    results: Sequence[Agreement],
    resamples: int,
) -> None:
    print(
        "\nCorrelations times 100, negative where a metric points the wrong way. Behind r: the 95% "
        "interval over texts, half the spread over seeds, [the paper's absolute one, with its own "
        "encoder].\n\n## System level\n"
    )
    print(correlation_table(results, "system", by_judgment(WEBNLG, WEBNLG_JUDGMENTS)))
    print("\n## Text level (the paper gives none)\n")
    print(correlation_table(results, "text", None))
    if "DR" not in scored:
        return
    compared = [name for name in scored if name != "DR"]
    print("\n## Is DR better? Correctness, Pearson |r|, p-values one-sided\n")
    print(against(scored, humans["correctness"], compared, resamples))
    print("\n## Variants on both halves of the texts: correctness, Pearson r\n")
    print(halves(scored, humans["correctness"]))
    print("\n## Verdicts\n")
    for verdict in judge(results):
        print(f"{verdict}\n")


def judge(results: Sequence[Agreement]) -> list[Verdict]:
    """Return verdicts on the statements of the paper about its table, and on those of isodepth."""
    judgments = list(dict.fromkeys(one.judgment for one in results))
    system = {judgment: by_metric(results, judgment, "system") for judgment in judgments}
    return [
        *_best_of_its_kind(system),
        *_mmd(system),
        *_state_of_the_art(system),
        *_own(system["correctness"], by_metric(results, "correctness", "text")),
    ]


System = Mapping[str, Mapping[str, Agreement]]


def _best_of_its_kind(system: System) -> list[Verdict]:
    compared = [name for name in FAIR if name in system["correctness"]]
    if not compared:
        return []
    above = {
        name: [
            ours > theirs
            for here in system.values()
            for ours, theirs in zip(here["DR"].means, here[name].means, strict=True)
        ]
        for name in compared
    }
    best = [all(cell) for cell in zip(*above.values(), strict=True)]
    counts = ", ".join(f"above {name} in {sum(won)}" for name, won in above.items())
    return [
        Verdict(
            "DR is the best of DR, W, Sliced-W and MMD in all nine cells (system level)",
            f"with this encoder best in {sum(best)} of {len(best)} cells: {counts}",
            outcome(best),
        )
    ]


def _mmd(system: System) -> list[Verdict]:
    here = system["correctness"]
    if "MMD, width 0.05" not in here:
        return []
    r = here["MMD, width 0.05"].means[0]
    measured = f"r = {r:.1f} with a kernel of width 0.05"
    if "MMD, width 0.7" in here:
        wide = here["MMD, width 0.7"].means[0]
        measured += f"; {wide:.1f} with 0.7: a matter of the bandwidth, not of MMD"
    return [Verdict("MMD fails (r = 25.4 with correctness)", measured, HOLDS if r < 30 else FAILS)]


def _state_of_the_art(system: System) -> list[Verdict]:
    there = [name for name in STATE_OF_THE_ART if name in system["correctness"]]
    if not there:
        return []
    pairs = {
        name: [(here["DR"].means[0], here[name].means[0]) for here in system.values()]
        for name in there
    }
    return [
        Verdict(
            "DR compares favorably with BERTScore and MoverScore (r)",
            "; ".join(
                f"{name}: " + ", ".join(f"{ours:.1f} against {theirs:.1f}" for ours, theirs in both)
                for name, both in pairs.items()
            ),
            outcome(ours > theirs for both in pairs.values() for ours, theirs in both),
        )
    ]


def _own(system: Mapping[str, Agreement], text: Mapping[str, Agreement]) -> list[Verdict]:
    ours = system["DR"]
    verdicts = []
    if len(ours.runs[0]) > 1:
        verdicts.append(
            Verdict(
                "DR spreads by less than a point over seeds (correctness, r, system level)",
                f"{ours.spread:.2f} over {len(ours.runs[0])} seeds, mean {ours.means[0]:.1f}",
                HOLDS if ours.spread < 1 else FAILS,
                "isodepth",
            )
        )
    for level, here in (("system", system), ("text", text)):
        verdicts += controls(here, f"correctness, {level} level: ")
    known = {name: value for name, value in PROTOTYPE.items() if name in system}
    if known:
        verdicts.append(
            Verdict(
                "with this encoder and the first reference, "
                + ", ".join(f"{name} {value}" for name, value in known.items())
                + f" (an independent prototype), within {NEAR}",
                ", ".join(f"{name} {system[name].means[0]:.1f}" for name in known),
                outcome(
                    abs(system[name].means[0] - value) <= NEAR for name, value in known.items()
                ),
                "isodepth",
            )
        )
    return verdicts


if __name__ == "__main__":
    raise SystemExit(main())
