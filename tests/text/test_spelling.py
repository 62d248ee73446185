"""British and American spellings have one stem; different words keep theirs."""

import pytest

from suffice.text.entities import content_stems, stem_words
from suffice.text.languages import ENGLISH, stem_text


@pytest.mark.parametrize(
    ("british", "american"),
    [
        ("licence", "LICENSE"),
        ("colours", "colors"),
        ("organised", "organized"),
        ("organisation", "organization"),
        ("behavioural", "behavioral"),
        ("catalogue", "catalog"),
        ("cataloguing", "cataloging"),
        ("centre", "center"),
        ("metres", "meters"),
        ("cancelled", "canceled"),
        ("defence", "defense"),
        ("analysed", "analyzed"),
        ("programme", "program"),
        ("practising", "practicing"),
        ("anaesthetic", "anesthetic"),
        ("judgement", "judgment"),
        ("naïve neighbours", "naïve neighbors"),
    ],
)
def test_both_spellings_have_one_stem(british: str, american: str) -> None:
    assert content_stems(british) == content_stems(american)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("scoured", "scored"),
        ("timbre", "timber"),
        ("tour", "tor"),
        ("prise", "prize"),
        ("device", "devise"),
        ("advice", "advise"),
        ("paradise", "parade"),
        ("filled", "filed"),
        ("exercise", "size"),
        ("Michael", "Michel"),
        ("founded", "found"),
    ],
)
def test_different_words_keep_different_stems(one: str, other: str) -> None:
    assert content_stems(one) != content_stems(other)


@pytest.mark.parametrize(
    ("word", "related"),
    [
        ("founded", "founder"),
        ("precise", "precisely"),
        ("revise", "revision"),
        ("surprise", "surprisingly"),
        ("advertise", "advertisement"),
    ],
)
def test_words_that_only_look_british_keep_their_relatives(word: str, related: str) -> None:
    assert content_stems(word) == content_stems(related)


def test_other_languages_are_left_alone() -> None:
    assert content_stems("nombre", "spanish") == frozenset({"nombr"})


def test_an_underscore_ends_a_word():
    assert stem_words("catalogue_name") == stem_words("catalog_name") == tuple(stem_text("catalogue_name", ENGLISH))
