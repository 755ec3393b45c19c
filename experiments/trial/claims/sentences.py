"""Split printed sentences into claims, each with a verdict."""

from __future__ import annotations

import re
from functools import cache
from itertools import product

import numpy as np

# These modules register patterns of claims.
from experiments.trial.claims import columns, notes, pairs, rows, tables  # noqa: F401
from experiments.trial.claims.case import CHECKS, Case, Claim, Verdict
from experiments.trial.numbers import agrees

_TEST = r" \((?:alone )?p = (1e-300 or less|[\d.e+-]+)(, not significant)?\)$"
_OVERLAP = r"(?:(?P<overlap>[^.]*a test of independent samples does not apply)\. )?"
_DIFFERS = (
    _OVERLAP + r"(?P<known>Only [\d.]+% of the values are known\. )?Y differs from X"
    r"(?: beyond a tolerance of [\d.]+)? \(p = (?P<p>[\d.e+-]+)[^:)]*\)(?:: (?P<rest>.*))?"
)
_ALIKE = (
    _OVERLAP + r"(?P<known>Only [\d.]+% of the values are known\. )?"
    r"No significant difference between X and Y(?: beyond the tolerance)?"
    r" \(p = (?P<p>[\d.e+-]+)(?:; [^)]*)?\)(?:, but (?P<rest>.*?))?"
    r"(?P<check>; check columns? .*)?"
)
#: Lines that state no fact about the data.
_SILENT = re.compile(
    r"two-sample\||The threshold is a rule|suspicious_rows\(\) lists|$|categories: |left out: "
    r"|the dependence between categories is not compared|batch \d+: |and \d+ more"
    r"|dependence was compared in \d+ random|no suspicious rows"
    r"|Values of .+ in columns that changed.* are listed only if"
)


def judge(sentence: str, case: Case) -> list[Claim]:
    """Return the claims of a sentence, each with a verdict."""
    sentence = sentence.strip()
    for pattern, differs in ((_DIFFERS, True), (_ALIKE, False)):
        match = re.fullmatch(pattern, sentence.removesuffix("."), re.DOTALL)
        if match:
            found = [_headline(match, case, differs)]
            if match["overlap"]:
                found += _claims(match["overlap"], case)
            if match["known"]:
                found.append(_known(match["known"], case))
            rest = match["rest"] or ""
            rest += (match.groupdict().get("check") or "") if rest else ""
            return [*found, *_claims(rest, case)] if rest else found
    return _claims(sentence, case)


def _headline(match: re.Match[str], case: Case, differs: bool) -> Claim:
    right = agrees(match["p"], case.pvalue) or abs(float(match["p"]) - case.pvalue) < 1e-9
    right &= differs == (case.pvalue <= case.alpha)
    return Claim("headline", match[0][:60], "true" if right else "false", "" if right else "p")


def _known(text: str, case: Case) -> Claim:
    shares = [p for name in case.compared for p in case.numbers(name)]
    share = 1 - np.concatenate([p.isna() for p in shares]).mean() if shares else 1.0
    right = agrees(text.split()[1], float(share))
    return Claim("known values", text, "true" if right else "false", f"{share:.3f}")


def _claims(text: str, case: Case) -> list[Claim]:
    """Split a text at semicolons so that as few parts as possible cannot be parsed."""
    text = re.sub(r"(\d+ more changes?) and (?=\d+ suspicious)", r"\1; ", text)
    parts = text.split("; ")
    best: list[tuple[float, list[Claim]]] = [(0.0, [])]
    for end in range(1, len(parts) + 1):
        options = []
        for start in range(max(0, end - 14), end):
            cost, before = best[start]
            phrase = "; ".join(parts[start:end])
            found = phrase_claims(phrase, case)
            if found is None:
                options.append((cost + 10 * (end - start) + 1, [*before, _unparsed(phrase)]))
            else:
                # Of several ways to split a text, the one with most true claims is meant.
                wrong = sum({"true": 0, "false": 2, "unclear": 3}[c.verdict] for c in found)
                longer = 0.1 * (end - start - 1) if wrong else 0.0
                options.append((cost + wrong + longer, [*before, *found]))
        best.append(min(options, key=lambda each: each[0]))
    return best[-1][1]


def _unparsed(text: str) -> Claim:
    return Claim("not parsed", text, "unclear", "no pattern")


def phrase_claims(text: str, case: Case) -> list[Claim] | None:
    """Return the claims of a phrase; None if no pattern describes it."""
    text = re.sub(r"^(?:also |Also found: )", "", text)
    text = text if text.endswith("...") else text.removesuffix(".")
    text = re.sub("^(?:At least|No change)", lambda m: m[0].lower(), text)
    if _SILENT.match(text):
        return []
    pvalue = re.search(_TEST, text)
    bare = text[: pvalue.start()] if pvalue else text
    # The verdict of a monitor names the denominator before the numbers.
    known = " of the known values" if ", of the known values:" in bare else ""
    forms = [re.sub(", of the known values:", colon, bare) + known for colon in (":", "")]
    for (kind, pattern, check), form in product(case.patterns, dict.fromkeys(forms)):
        match = pattern.fullmatch(form)
        if not match:
            continue
        try:
            verdict = check(case, match)
        except (KeyError, IndexError, ValueError, TypeError) as error:
            verdict = Verdict("false", f"cannot be computed: {type(error).__name__} {error}"[:120])
        found = [Claim(kind, text, *verdict)]
        if pvalue and not pvalue[2] and pvalue[1][0].isdigit():
            p = 0.0 if "less" in pvalue[1] else float(pvalue[1])
            if p > case.alpha + 1e-9:
                found.append(Claim("p-value", text, "false", f"p = {p} of a change"))
        return found
    return None


@cache
def kinds() -> tuple[str, ...]:
    """Return the kinds of claims."""
    return tuple(dict.fromkeys(["headline", *(kind for kind, _, _ in CHECKS), "not parsed"]))
