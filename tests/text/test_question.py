"""What a question asks for."""

import pytest

from suffice.text.question import read_question


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("What is the difference between a group and a chain?", ("group", "chain")),
        ("How does a Group differ from a Command?", ("Group", "Command")),
        ("Does Quill run on Linux or macOS?", ("Linux", "macOS")),
        ("Are Quill and Reed both databases?", ("Quill", "Reed")),
        ("Was ist der Unterschied zwischen einem Entwickler und einem Betreuer?", ("Entwickler", "Betreuer")),
        ("¿Qué diferencia hay entre safe-upgrade y full-upgrade?", ("safe-upgrade", "full-upgrade")),
        ("Who built the mill?", ()),
    ],
)
def test_the_things_that_a_question_compares(question: str, sides: tuple[str, ...]) -> None:
    assert read_question(question).sides == sides


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When was the bridge built?", "fact"),
        ("What is the default timeout?", "setting"),
        ("Which options does it have?", "list"),
        ("Which class does Flask use?", "fact"),
        ("How do I restart it?", "howto"),
        ("Which is older, Graz or Linz?", "comparison"),
        ("Give a comprehensive account of Moss", "broad"),
        ("How do I delete the account of a user?", "howto"),
    ],
)
def test_the_wording_tells_the_kind_of_a_question(question: str, kind: str) -> None:
    assert read_question(question).kind == kind


def test_the_language_is_a_field_of_the_question() -> None:
    assert read_question("Wie viele Häuser stehen in der Stadt?").language == "german"
    assert read_question("Who built the houses?").language == "english"
    assert read_question("lru_cache", "german").language == "german"
    assert read_question("東京都の人口は約千四百万人です。").language == "english"
