"""Languages: which one a text is in, and stems and stop words in it."""

import pytest

from suffice.text.entities import content_stems, extract_facets
from suffice.text.languages import UNSPACED, detect_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The cat sat on the mat in the house.", "english"),
        ("Wie viele Häuser stehen in der Stadt?", "german"),
        ("Comment créer une base de données ?", "french"),
        ("¿Cómo se crea una base de datos?", "spanish"),
        ("Hoe installeer ik het pakket?", "dutch"),
        ("Il pacchetto viene installato nella cartella che è stata scelta.", "italian"),
        ("O pacote é instalado na pasta que foi escolhida pelo utilizador.", "portuguese"),
        ("Пакет устанавливается в папку, которую выбрал пользователь, и он будет там.", "russian"),
        ("東京都の人口は約千四百万人です。", UNSPACED),
        ("ThreadPoolExecutor(max_workers=5)", None),
        ("", None),
    ],
)
def test_detect_language(text: str, language: str | None) -> None:
    assert detect_language(text) == language


def test_stems_are_those_of_the_given_language() -> None:
    assert content_stems("Die Häuser", "german") == content_stems("das Haus", "german")
    assert content_stems("les bases de données", "french") == content_stems("une base de donnée", "french")
    assert content_stems("the houses") == content_stems("a house")


def test_question_words_are_no_facets() -> None:
    facets = extract_facets("Wann wurde die Datenbank gegründet?", language="german")
    assert [facet.text for facet in facets] == ["Datenbank", "gegründet"]
