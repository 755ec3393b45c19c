"""Check of printed sentences: each claim is parsed, and computed again with pandas."""

from experiments.trial.claims.case import Case, Claim, Verdict
from experiments.trial.claims.rows import forget_models
from experiments.trial.claims.sentences import judge, kinds

__all__ = ["Case", "Claim", "Verdict", "forget_models", "judge", "kinds"]
