"""Fit the thresholds of the reader's checker on the development part and store them.

Of all thresholds with which at most one false claim in ten passes, those with the highest balanced accuracy are chosen; of
those with which a contradiction is right in three cases of four, the one with which most contradictions are found.
"""

import argparse
import json
from collections import Counter
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy
from held import Claim, load_part
from suffice.claims.checkers import LexicalChecker, reader
from suffice.claims.checkers.quantities import align_figures

from suffice.models.reader import ReaderModel, get_reader
from suffice.types import Passage, Place

THRESHOLDS_FILE = Path(reader.__file__).with_name("thresholds.json")
MAX_FALSE_PASSED = 0.10
MIN_PRECISION = 0.75
FACT_CHECKING = frozenset("fever feverous fm2 check_covid scifact_train wice".split())
PARAPHRASED = frozenset(
    "scitldr cochrane_simplification wikisplit clapnq quotesum qmsum swipe realsumm_scu defacto".split()
)
SOURCES = (
    FACT_CHECKING | PARAPHRASED
)  # Claims that people wrote about passages: the nearest to what the product checks.
SURE = [value / 20 for value in range(10, 20)]  # More likely than not, where words say nothing.
CONFIRMING = [value / 20 for value in range(4, 9)]  # Less than that, where words say the same.
SURER = [value / 20 for value in range(15, 20)]  # Where a name is missing.
# Where one thing of a copied sentence was changed: from .9 on, 98 % of such sentences were caught (bench/corruptions.py, 150
# sentences of passages that bench/claims.py does not use).
VERY_SURE = [0.9, 0.95]


class Limits(NamedTuple):
    """The reader's thresholds of ``CheckerThresholds``."""

    supports: float
    confirms: float
    despite_name: float
    despite_difference: float
    contradicts: float


FACTS_EACH = 110  # Claims of each fact-verification set; the others have fewer.


def select(claims: list[Claim], each: int) -> list[Claim]:
    """Return the first claims of each source, more of the fact-verification sets."""
    seen = Counter[str]()
    kept = []
    for claim in claims:
        if seen[claim.source] < (max(each, FACTS_EACH) if claim.source in FACT_CHECKING else each):
            seen[claim.source] += 1
            kept.append(claim)
    return kept


def measure(claim: Claim) -> dict:
    """Return what rules and the reader say of a claim, each alone."""
    return {
        **vars(claim),
        **apply_rules(claim.text, claim.passage),
        "probabilities": get_reader().judge([(align_figures(claim.text, claim.passage), claim.passage)])[0].tolist(),
    }


def apply_rules(claim: str, text: str) -> dict:
    """Return what rules alone say of a claim."""
    passage = Passage("p", text, "", Place("text"))
    found = LexicalChecker().check(claim, passage)
    veto = reader.find_veto(claim, passage, found)
    return {
        "lexical": found.stance if found else None,
        "settled": found is not None and reader.is_settled(claim, passage, found),
        "overlap": found.overlap if found else 0.0,
        "veto": "" if veto is None else veto.kind,
    }


def decide(rows: list[dict], limits: Limits) -> numpy.ndarray:
    """Return the verdicts of rules and reader together, as ``ReaderChecker`` decides: 1 supported, -1 contradicted, 0 neither."""
    found = []
    for row in rows:
        supported, contradicted, _ = row["probabilities"]
        needed = limits.confirms if row["lexical"] == "supports" else limits.supports
        if row["veto"]:
            needed = {"name": limits.despite_name, "difference": limits.despite_difference}.get(row["veto"], numpy.inf)
        if row["settled"]:
            found.append(1 if row["lexical"] == "supports" else -1)
        elif supported >= needed:
            found.append(1)
        else:
            needed = limits.confirms if row["lexical"] == "contradicts" else limits.contradicts
            found.append(-1 if contradicted >= needed else 0)
    return numpy.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that prepare.py wrote")
    parser.add_argument("--each", type=int, default=22, help="development rows of each source")
    given = parser.parse_args()
    claims = [claim for claim in load_part(given.data, "dev")[0] if claim.source in SOURCES]
    store([measure(claim) for claim in select(claims, given.each)])


def store(rows: list[dict]) -> None:
    labels = numpy.array([row["label"] for row in rows])
    true = labels == "supported"

    def score(limits: Limits) -> tuple[bool, float]:
        passed = decide(rows, limits) == 1
        return bool(passed[~true].mean() <= MAX_FALSE_PASSED), float(passed[true].mean() - passed[~true].mean())

    limits = max((Limits(*values, 2.0) for values in product(SURE, CONFIRMING, SURER, VERY_SURE)), key=score)
    told = labels != "not_supported"  # Their source does not say whether they are contradicted.
    choices = []
    for contradicts in SURE:
        said = decide(rows, limits._replace(contradicts=contradicts))[told] == -1
        right = float((labels[told] == "contradicted")[said].mean()) if said.any() else 0.0
        found = float(said[labels[told] == "contradicted"].mean())
        choices.append((right >= MIN_PRECISION, found, right, contradicts))
    _, found, precision, contradicts = max(choices)
    limits = limits._replace(contradicts=contradicts)
    stored = json.loads(THRESHOLDS_FILE.read_text(encoding="utf-8")) | {
        **{f"reader_{name}": value for name, value in limits._asdict().items()},
        "reader": ReaderModel.name,
        "reader_fitted_on": f"{len(rows)} claims of the development part that people wrote about passages, at most {FACTS_EACH} of a source",
        "reader_fitted_by": "python training/reader/fit.py --data DATA",
        "reader_fitted_at": f"{datetime.now(UTC):%Y-%m-%d}",
        "reader_wanted": {"false_passed": MAX_FALSE_PASSED, "contradicted_precision": MIN_PRECISION},
    }
    THRESHOLDS_FILE.write_text(json.dumps(stored, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    passed = decide(rows, limits) == 1
    print(f"{limits}: true passed {passed[true].mean():.3f}, false passed {passed[~true].mean():.3f}")
    print(f"contradicted: precision {precision:.3f}, recall {found:.3f}")


if __name__ == "__main__":
    main()
