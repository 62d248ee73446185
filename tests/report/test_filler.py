"""Filler is told from findings by meaning, not by a list of wordings."""

import pytest

from suffice.models.embeddings.static import embed_static
from suffice.report.findings import estimate_filler


@pytest.mark.parametrize(
    ("filler", "finding"),
    [
        ("Thanks for the update, Maria, great work!", "The ferry was cancelled because the pier had rusted through."),
        ("This document gives an overview of our plans.", "The plans foresee two new wells near the eastern wall."),
        ("Let us meet next Monday to go through it.", "The council decided on Monday to close the old bath."),
        ("I fully agree with your point.", "Bats returned to the tower after the lights were turned off."),
    ],
)
def test_filler_is_likelier_than_a_finding(filler: str, finding: str) -> None:
    low, high = estimate_filler(embed_static([finding, filler]))
    assert low < high - 0.2
