"""Fit the thresholds of the reader's checker on the development part and store them.

Of all thresholds with which at most one false claim in ten passes, those are chosen with which most true claims pass; of those
with which a contradiction is right in three cases of four, the one with which most contradictions are found.
"""

import argparse
import json
from collections import Counter
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import numpy
from held import Claim, load_part

from suffice.claims.checkers import LexicalChecker, reader
from suffice.models.reader import ReaderModel, get_reader
from suffice.types import Passage, Place

THRESHOLDS_FILE = Path(reader.__file__).with_name("thresholds.json")
MAX_FALSE_PASSED = 0.10
MIN_PRECISION = 0.75
GRID = [value / 20 for value in range(4, 20)]


def select(claims: list[Claim], each: int) -> list[Claim]:
    """Return the first claims of each source."""
    seen = Counter[str]()
    kept = []
    for claim in claims:
        if seen[claim.source] < each:
            seen[claim.source] += 1
            kept.append(claim)
    return kept


def measure(claim: Claim) -> dict:
    """Return what rules and the reader say of a claim, each alone."""
    passage = Passage("p", claim.passage, "", Place("text"))
    found = LexicalChecker().check(claim.text, passage)
    return {
        **vars(claim),
        "lexical": found.stance if found else None,
        "settled": found is not None and reader.is_settled(found),
        "overlap": found.overlap if found else 0.0,
        "veto": reader.find_veto(claim.text, passage, found),
        "probabilities": get_reader().judge([(claim.text, claim.passage)])[0].tolist(),
    }


def decide(rows: list[dict], supports: float, confirms: float, contradicts: float) -> numpy.ndarray:
    """Return the verdicts of rules and reader together: 1 supported, -1 contradicted, 0 neither. As ``ReaderChecker`` decides."""
    found = []
    for row in rows:
        supported, contradicted, _ = row["probabilities"]
        if row["settled"]:
            found.append(1 if row["lexical"] == "supports" else -1)
        elif not row["veto"] and supported >= (confirms if row["lexical"] == "supports" else supports):
            found.append(1)
        else:
            found.append(-1 if contradicted >= (confirms if row["lexical"] == "contradicts" else contradicts) else 0)
    return numpy.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that prepare.py wrote")
    parser.add_argument("--each", type=int, default=22, help="development rows of each source")
    given = parser.parse_args()
    rows = [measure(claim) for claim in select(load_part(given.data, "dev")[0], given.each)]
    store(rows)


def store(rows: list[dict]) -> None:
    labels = numpy.array([row["label"] for row in rows])
    true = labels == "supported"
    measured = []
    for supports, confirms in product(GRID, GRID[:8]):
        passed = decide(rows, supports, min(confirms, supports), 2.0) == 1
        measured.append(
            (
                passed[~true].mean() <= MAX_FALSE_PASSED,
                passed[true].mean(),
                -passed[~true].mean(),
                supports,
                min(confirms, supports),
            )
        )
    within, recall, false_passed, supports, confirms = max(measured)
    told = labels != "not_supported"  # Their source does not say whether they are contradicted.
    choices = []
    for contradicts in GRID:
        said = decide(rows, supports, confirms, contradicts)[told] == -1
        right = (labels[told] == "contradicted")[said].mean() if said.any() else 0.0
        choices.append((right >= MIN_PRECISION, said[labels[told] == "contradicted"].mean(), right, contradicts))
    _, found, precision, contradicts = max(choices)
    stored = json.loads(THRESHOLDS_FILE.read_text(encoding="utf-8")) | {
        "reader_supports": supports,
        "reader_confirms": confirms,
        "reader_contradicts": contradicts,
        "reader": ReaderModel.name,
        "reader_fitted_on": f"{len(rows)} claims of the development part, as many of each source",
        "reader_fitted_by": "python training/reader/fit.py --data DATA",
        "reader_fitted_at": f"{datetime.now(UTC):%Y-%m-%d}",
        "reader_wanted": {"false_passed": MAX_FALSE_PASSED, "contradicted_precision": MIN_PRECISION},
    }
    THRESHOLDS_FILE.write_text(json.dumps(stored, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"true passed {recall:.3f}, false passed {-false_passed:.3f}, supports {supports}, confirms {confirms}")
    print(f"contradicted: precision {precision:.3f}, recall {found:.3f}, contradicts {contradicts}")


if __name__ == "__main__":
    main()
