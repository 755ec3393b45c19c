"""Command line of both experiments."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from experiments.texts.corpus import Corpus
from experiments.texts.embeddings import StoredEncoder
from experiments.texts.metrics import Contender, contenders
from experiments.texts.scoring import Scored, score_all
from isodepth import __version__
from isodepth.text import Encoder


def parser(name: str, about: str, default_model: str) -> argparse.ArgumentParser:
    """Return the parser of the command-line options of an experiment on texts.

    `name` and `about` are shown in the help.
    """
    made = argparse.ArgumentParser(prog=f"python -m experiments {name}", description=about)
    made.add_argument("--data", type=Path, metavar="DIR", help="folder with the tidy files")
    made.add_argument(
        "--model", metavar="DIR",
        help=f"folder or name of an encoder; all-MiniLM-L6-v2 by default ({default_model})",
    )  # fmt: skip
    made.add_argument("--layer", type=int, help="hidden state to take; the last by default")
    made.add_argument("--device", help="such as cuda")
    made.add_argument("--seeds", type=int, default=5, help="runs of random metrics (default 5)")
    made.add_argument("--resamples", type=int, default=2000, help="of texts (default 2000)")
    made.add_argument("--metrics", nargs="+", metavar="NAME", help="only these lines of the tables")
    made.add_argument("--texts", type=int, metavar="N", help="only the first N texts, to try it")
    made.add_argument("--quick", action="store_true", help="8 texts, 2 seeds: shows that it works")
    made.add_argument(
        "--out", type=Path, metavar="DIR",
        help="keep token vectors and scores there, and go on from them next time",
    )  # fmt: skip
    return made


def settle(options: argparse.Namespace) -> None:
    """Replace options by the smaller values that --quick implies, in place."""
    if options.quick:
        options.texts = options.texts or 8
        options.seeds, options.resamples = min(2, options.seeds), min(100, options.resamples)


def score_corpus(
    corpus: Corpus, options: argparse.Namespace, unasked: Sequence[str] = ()
) -> tuple[dict[str, Scored], StoredEncoder]:
    """Score the texts of a corpus; return the scores by metric, and the encoder of the texts.

    Metrics in `unasked` are computed only if the option `--metrics` names them.
    """
    if options.texts:
        corpus = corpus.part(options.texts)
    encoder = Encoder(options.model, options.layer, device=options.device)
    print(
        f"{corpus.name}: {corpus.n_texts} texts, {corpus.n_systems} systems, encoder "
        f"{encoder.signature}",
        flush=True,
    )
    stored = StoredEncoder(encoder, options.out and options.out / "token_vectors.npz")
    stored.prepare([*corpus.texts, *(text for group in corpus.references for text in group)])
    everything = contenders(stored, options.model, options.layer)
    chosen = _chosen(everything, options.metrics, unasked)
    name = corpus.name.replace(", ", "_").replace(" ", "_").lower()
    references = max(map(len, corpus.references))
    about = f"{name}|{corpus.n_texts}|{references}|{stored.signature}|v={__version__}"
    file = options.out and options.out / f"{name}_scores.jsonl"
    return score_all(corpus, chosen, options.seeds, file, about), stored


def _chosen(
    everything: list[Contender], names: list[str] | None, unasked: Sequence[str]
) -> list[Contender]:
    if not names:
        return [contender for contender in everything if contender.name not in unasked]
    known = {contender.name: contender for contender in everything}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"no metric {', '.join(unknown)}; there are {', '.join(known)}")
    return [known[name] for name in names]
