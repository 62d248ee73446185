"""Extract and compress without a language model: verbatim, with handles, deterministic."""

import asyncio

from suffice.models.extractive import ExtractiveModel
from suffice.prompts.belief import Compress, Extract
from suffice.types import BELIEF_KIND, Note

TASK = "Where was the director of The Silver Lamp born?"
FILM = Note("The Silver Lamp is a film. It was directed by Ada Lind in Oslo.", ("[1]",), "The Silver Lamp")
ADA = Note("The director Ada Lind was born in Graz. She sang.", ("[2]",), "Ada Lind")
RAIN = Note("It rained for forty days.", ("[3]",), "Weather")


def ask(prompt):
    return asyncio.run(ExtractiveModel()(prompt)).answer


def test_a_fact_is_a_sentence_of_its_source():
    answer = ask(Extract(TASK, (), ("Silver Lamp", "director born"), (FILM, ADA, RAIN)))
    by_handle = {"[1]": FILM, "[2]": ADA, "[3]": RAIN}
    assert answer.facts
    assert all(finding.text in by_handle[finding.handles[0]].text for finding in answer.facts)
    assert not any(finding.handles == ("[3]",) for finding in answer.facts)
    assert "director born" in answer.resolved


def test_a_bridge_opens_a_question():
    answer = ask(Extract(TASK, (), ("Silver Lamp", "director born"), (FILM,)))
    assert answer.resolved == ("Silver Lamp",)
    assert answer.questions == ("Ada Lind director born",)


def test_a_known_fact_is_not_extracted_again():
    known = (Note("The director Ada Lind was born in Graz.", ("[2]",), kind=BELIEF_KIND),)
    assert ask(Extract(TASK, known, (), (ADA,))).facts == ()


def test_no_observation_gives_no_facts():
    answer = ask(Extract(TASK, (), ("director born",), ()))
    assert (answer.facts, answer.resolved, answer.questions) == ((), (), ())


def test_compression_only_quotes():
    answer = ask(Compress(TASK, (Note("Ada Lind sang.", ("[2]",), kind=BELIEF_KIND),), (FILM, ADA, RAIN)))
    sources = " ".join(note.text for note in (FILM, ADA, RAIN)) + " Ada Lind sang."
    assert all(bullet.text in sources and bullet.handles for bullet in answer.bullets)
