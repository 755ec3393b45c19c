"""METEOR (nltk), with the synonyms of a WordNet on this machine."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from isodepth.data.extras import load_extra
from isodepth.errors import InvalidOptionError
from isodepth.text.references import check_texts

#: Where Debian's packages wordnet-base and wordnet-sense-index put their files.
DEBIAN_FOLDER = "/usr/share/wordnet"

_NEEDED = ("data.noun", "index.noun", "index.sense", "cntlist.rev", "noun.exc")
# The one file of WordNet that Debian leaves out: names of the 45 files of its lexicographers.
_LEXICOGRAPHER_FILES = (
    "adj.all", "adj.pert", "adv.all", "noun.Tops", "noun.act", "noun.animal", "noun.artifact",
    "noun.attribute", "noun.body", "noun.cognition", "noun.communication", "noun.event",
    "noun.feeling", "noun.food", "noun.group", "noun.location", "noun.motive", "noun.object",
    "noun.person", "noun.phenomenon", "noun.plant", "noun.possession", "noun.process",
    "noun.quantity", "noun.relation", "noun.shape", "noun.state", "noun.substance", "noun.time",
    "verb.body", "verb.change", "verb.cognition", "verb.communication", "verb.competition",
    "verb.consumption", "verb.contact", "verb.creation", "verb.emotion", "verb.motion",
    "verb.perception", "verb.possession", "verb.social", "verb.stative", "verb.weather",
    "adj.ppl",
)  # fmt: skip


class METEOR:
    """METEOR of nltk, 0 to 1; of several references the best. Words are matched as they are, by
    stem, and by synonym.

    Parameters
    ----------
    wordnet : "auto", folder or None
        Where the files of WordNet lie; "auto" for where Debian's packages wordnet-base and
        wordnet-sense-index put them, and without them no synonyms, with a warning; None for no
        synonyms.
    """

    higher_is_better = True

    def __init__(self, *, wordnet: str | None = "auto") -> None:
        folder = None if wordnet is None else Path(DEBIAN_FOLDER if wordnet == "auto" else wordnet)
        if folder is not None and not all((folder / name).is_file() for name in _NEEDED):
            if wordnet != "auto":
                raise InvalidOptionError(f"{folder} does not hold the files of WordNet")
            warnings.warn(
                "METEOR goes without synonyms: there is no WordNet on this machine (Debian has it "
                "in wordnet-base and wordnet-sense-index); wordnet=None says that this is meant",
                UserWarning,
                stacklevel=2,
            )
            folder = None
        self.folder = folder
        self.name = "METEOR" if folder else "METEOR (no synonyms)"

    def score(
        self, candidates: Sequence[str], references: Sequence[str | Sequence[str]]
    ) -> list[float]:
        """Score of each candidate against its reference(s): higher is closer."""
        texts, groups = check_texts(candidates, references)
        wordpunct_tokenize = load_extra("nltk.tokenize", "text", "METEOR").wordpunct_tokenize
        meteor_score = load_extra("nltk.translate.meteor_score", "text", "METEOR").meteor_score
        wordnet = _NoSynonyms() if self.folder is None else _read_wordnet(str(self.folder))
        return [
            float(
                meteor_score(
                    [wordpunct_tokenize(reference) for reference in group],
                    wordpunct_tokenize(text),
                    wordnet=wordnet,
                )
            )
            for text, group in zip(texts, groups, strict=True)
        ]


class _NoSynonyms:
    def synsets(self, word: str) -> list[Any]:
        return []


@lru_cache(maxsize=2)
def _read_wordnet(folder: str) -> Any:
    from nltk import data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class LocalWordNet(WordNetCorpusReader):
        def open(self, file: str) -> Any:
            if file == "lexnames" and not (Path(folder) / file).is_file():
                lines = (f"{i}\t{name}\t0\n" for i, name in enumerate(_LEXICOGRAPHER_FILES))
                return io.StringIO("".join(lines))
            return super().open(file)

        def map_wn(self, version: str = "wordnet") -> None:
            """Nothing is to be translated into the WordNet that nltk would download."""

    # nltk only reads folders that are listed here.
    if folder not in data.path:
        data.path.append(folder)
    with warnings.catch_warnings():
        # Without a reader of other languages nltk says that it has none.
        warnings.simplefilter("ignore")
        return LocalWordNet(data.FileSystemPathPointer(folder), None)
