"""Experiments on text: loaders, converter, and printed tables."""

from __future__ import annotations

import json
import pickle
import subprocess
import warnings

import numpy as np
import pytest
from text_extra import needs, needs_encoder

from experiments.framework.table import Table
from experiments.texts import convert, speed, summarization, webnlg
from experiments.texts.corpus import WEBNLG_REFERENCE, DataMissingError, load_realsumm, load_webnlg
from experiments.texts.correlations import agreement, by_metric
from experiments.texts.human_correlation import bootstrap_interval, correlation
from experiments.texts.metrics import Contender
from experiments.texts.published import WEBNLG, WEBNLG_JUDGMENTS, by_judgment
from experiments.texts.scoring import Scored, score_all
from experiments.texts.tables import correlation_table

SENTENCES = [
    "The cat sat on the mat.",
    "Aaron Turner plays the electric guitar.",
    "Saint Petersburg was founded in 1703.",
    "The area code of Darlington is 01325.",
    "The official language of Israel is Hebrew.",
    "Nie Haisheng is a fighter pilot.",
]
SYSTEMS = ["good", "fair", "poor", "silent", WEBNLG_REFERENCE]


def garble(text, share, rng):
    words = text.split()
    return " ".join("noise" if rng.random() < share else word for word in words)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write small corpora in which worse systems make more errors."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("data")
    web, abstractive = [], []
    for number, sentence in enumerate(SENTENCES, start=1):
        for place, system in enumerate(SYSTEMS):
            text = garble(sentence, 0.3 * place, rng) if system != "silent" else ""
            rating = 90 - 20 * place + rng.normal()
            web.append(
                {"sample_id": number, "system": system, "text": text,
                 "references": [sentence, f"{sentence} Really."], "correctness": rating,
                 "data_coverage": rating + rng.normal(), "relevance": rating + rng.normal()}
            )  # fmt: skip
            abstractive.append(
                {"doc_id": number, "system": system, "text": text, "reference": sentence,
                 "litepyramid_recall": rating / 100, "rouge_1_f": rating, "js_2": -rating}
            )  # fmt: skip
    for name, rows in (
        ("webnlg2020_en.jsonl", web),
        ("realsumm_abs.jsonl", abstractive),
        ("realsumm_ext.jsonl", abstractive),
    ):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_webnlg_leaves_the_human_reference_out(folder):
    corpus = load_webnlg(folder)
    assert corpus.n_systems == 4
    assert corpus.n_texts == 6
    assert WEBNLG_REFERENCE not in corpus.systems
    assert corpus.ratings("correctness").shape == (6, 4)
    assert all(len(group) == 1 for group in corpus.first_references().references)
    assert corpus.part(2).n_texts == 2


@pytest.mark.parametrize("experiment", [webnlg, summarization, speed])
def test_without_data_there_is_one_clear_line(experiment, tmp_path, capsys):
    assert experiment.main([]) == 2
    assert capsys.readouterr().err.startswith("--data DIR is needed")
    assert experiment.main(["--data", str(tmp_path)]) == 2
    assert "there is no" in capsys.readouterr().err


@needs_encoder
@needs("sacrebleu", "rouge_score", "nltk", "bert_score", "ot")
@pytest.mark.filterwarnings("ignore:METEOR goes without synonyms")
def test_webnlg_prints_tables_and_verdicts_and_goes_on(folder, tmp_path, capsys):
    arguments = ["--data", str(folder), "--quick", "--out", str(tmp_path)]
    assert webnlg.main(arguments) == 0
    first = capsys.readouterr().out
    for name in ("| DR |", "| W |", "| METEOR", "| DR, random trimming |", "| DR, no trimming |"):
        assert first.count(name) >= 2
    assert "[89.4]" in first
    assert "verdict:" in first
    assert "DR against" in first
    raw = Table.read(tmp_path / "webnlg.csv")
    assert {"DR", "W", "METEOR"} <= set(raw.distinct("metric"))
    assert raw.distinct("level") == ["system", "text"]
    assert set(raw.where(metric="DR")["seed"]) == {0, 1}
    assert (tmp_path / "webnlg.png").stat().st_size > 10_000
    # All scores are cached: only the tables are computed again.
    assert webnlg.main(arguments) == 0
    again = capsys.readouterr().out
    assert " s\n" not in again
    assert again.split("## System level")[1] == first.split("## System level")[1]


@needs_encoder
@needs("ot")
def test_summarization_prints_both_levels(folder, tmp_path, capsys):
    arguments = ["--data", str(folder), "--quick", "--metrics", "DR", "W", "JS-2"]
    arguments += ["--out", str(tmp_path)]
    assert summarization.main(arguments) == 0
    out = capsys.readouterr().out
    for kind in ("abstractive", "extractive"):
        for level in ("system", "text"):
            assert f"## {kind}, {level} level" in out
    assert "ROUGE-1 (REALSumm's)" in out
    raw = Table.read(tmp_path / "summarization.csv")
    assert raw.distinct("judgment") == ["abstractive", "extractive"]
    assert "JS-2 (REALSumm's)" in raw.distinct("metric")
    assert (tmp_path / "summarization.png").stat().st_size > 10_000
    with pytest.raises(SystemExit, match="no metric W2"):
        summarization.main(["--data", str(folder), "--metrics", "W2"])


@needs_encoder
@pytest.mark.filterwarnings("ignore:candidates that are empty")
def test_speed_compares_with_the_published_algorithm(folder, capsys):
    arguments = ["--data", str(folder), "--texts", "2", "--directions", "50", "--published", "1"]
    assert speed.main(arguments) == 0
    out = capsys.readouterr().out
    assert "published DepthScore, K = 10000" in out
    assert "Sliced-W of POT, K = 50 " in out


@pytest.fixture(scope="module")
def synthetic():
    """Return scores, ratings, and their agreement.

    The scores are two runs of DR and one of W, whose correlations with the ratings differ.
    """
    rng = np.random.default_rng(0)
    human = np.linspace(0, 3, 6) + rng.normal(size=(40, 6))
    scored = [
        Scored("DR", [human - noise for noise in rng.normal(size=(2, 40, 6))], 0.0),
        Scored("W", [human - 3 * rng.normal(size=(40, 6))], 0.0),
    ]
    results = [
        agreement(one, judgment, human, level, 200)
        for level in ("system", "text")
        for one in scored
        for judgment in WEBNLG_JUDGMENTS
    ]
    return scored, human, results


def test_agreement_is_the_mean_over_seeds(synthetic):
    scored, human, results = synthetic
    ours = by_metric(results, "relevance", "text")["DR"]
    runs = [100 * correlation(run, human, "text") for run in scored[0].runs]
    assert ours.runs[0] == pytest.approx(runs)
    assert ours.means[0] == pytest.approx(np.mean(runs))
    assert ours.spread == pytest.approx(abs(runs[0] - runs[1]))
    low, high = bootstrap_interval(scored[0].runs[0], human, "text", 200)
    assert ours.interval == pytest.approx((100 * low, 100 * high))
    assert ours.interval[0] < runs[0] < ours.interval[1]


def test_table_shows_published_values(synthetic):
    _, _, results = synthetic
    lines = correlation_table(results, "system", by_judgment(WEBNLG, WEBNLG_JUDGMENTS)).split("\n")
    assert lines[0].count("|") == 1 + 1 + 9
    assert lines[2].startswith("| DR | ")
    assert lines[2].endswith(" [72.9] |")
    assert "±" in lines[2]
    assert "±" not in lines[3]


def test_warnings_are_printed_and_distances_negated(capsys, folder):
    class WarningMetric:
        higher_is_better = False

        def score(self, candidates, references):
            warnings.warn("half of the texts are missing", UserWarning, stacklevel=2)
            return [float(len(text)) for text in candidates]

    corpus = load_webnlg(folder)
    scored = score_all(corpus, [Contender("poor", lambda seed: WarningMetric())], 1, None, "")
    assert "poor: half of the texts are missing" in capsys.readouterr().out
    # Distances are negated, because more is better.
    assert (scored["poor"].runs[0] == -corpus.table([len(text) for text in corpus.texts])).all()


# -- formats of the public repositories -----------------------------------------------------------


def write_json(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def test_webnlg_is_converted(tmp_path):
    clone = tmp_path / "clone"
    entries = [
        {str(n): {"category": "Airport", "size": "1", "lexicalisations": [{"lex": f"ref {n}"}]}}
        for n in (1, 2, 3)
    ]
    write_json(clone / "evaluation/references/references-en.json", {"entries": entries})
    rating = {"Correctness": 90, "DataCoverage": 80, "Relevance": 70, "Fluency": 60,
              "TextStructure": 50}  # fmt: skip
    other = {**rating, "Correctness": 100, "feedback": "fine"}
    results = clone / "evaluation/human-evaluation/results/en/bt5/primary.json"
    write_json(results, {"3": {"w1": rating, "w2": other}, "1": {}})
    output = clone / "submissions/rdf2text/en/bt5/primary.en"
    output.parent.mkdir(parents=True)
    output.write_text("one\ntwo\nthree \n", encoding="utf-8")
    assert convert.main(["webnlg", str(clone), str(tmp_path / "data")]) == 0
    corpus = load_webnlg(tmp_path / "data")
    assert (corpus.ids, corpus.systems, corpus.texts) == ([3], ["bt5"], ["three"])
    assert corpus.references == [["ref 3"]]
    assert corpus.human["correctness"] == [95.0]


def test_realsumm_is_converted(tmp_path):
    scores = {"litepyramid_recall": 0.5, "rouge_1_f_score": 0.4, "js-2": -0.6}
    documents = {
        7: {"doc_id": 7, "ref_summ": "the reference", "system_summaries": {
            "bart_out.txt": {"system_summary": "a summary", "scores": scores}}}
    }  # fmt: skip
    folder = tmp_path / "clone/scores_dicts"
    folder.mkdir(parents=True)
    for name in ("abs.pkl", "ext.pkl"):
        (folder / name).write_bytes(pickle.dumps(documents))
    assert convert.main(["realsumm", str(tmp_path / "clone"), str(tmp_path / "data")]) == 0
    corpus = load_realsumm(tmp_path / "data", "extractive")
    assert (corpus.ids, corpus.systems, corpus.texts) == ([7], ["bart_out"], ["a summary"])
    assert corpus.published == {"ROUGE-1": [0.4], "JS-2": [-0.6]}


def test_a_pickle_that_would_run_code_is_refused(tmp_path):
    folder = tmp_path / "scores_dicts"
    folder.mkdir()

    class Evil:
        def __reduce__(self):
            return subprocess.call, (["false"],)

    (folder / "abs.pkl").write_bytes(pickle.dumps({1: Evil()}))
    with pytest.raises(pickle.UnpicklingError, match="refusing"):
        convert.realsumm_rows(tmp_path, "abstractive")


def test_an_incomplete_clone_is_named(tmp_path, capsys):
    with pytest.raises(DataMissingError, match=r"references-en\.json"):
        convert.webnlg_rows(tmp_path)
    assert convert.main(["realsumm", str(tmp_path), str(tmp_path)]) == 2
    assert "abs.pkl" in capsys.readouterr().err
