"""Questions that describe a thing: what is described is found, put into the question, and searched for."""

import asyncio

from suffice import research
from suffice.models.extractive.planning import reflect
from suffice.models.extractive.steps import StepReader, read_steps
from suffice.models.reader.model import get_reader
from suffice.models.reading import AnswerSpan
from suffice.prompts.planning import Reflect
from suffice.text.question import read_question
from suffice.types import Note

TASK = "Who is the mayor of the town where Odile Brandt was born?"
ANCHOR = Note("Odile Brandt was a painter. Brandt was born in Velburg in 1871.", ("[1]",), "Odile Brandt")
ANSWER = Note(
    "Velburg is a town on the Laaber. Since 2014 the mayor of Velburg has been Kathrin Lohse.", ("[2]",), "Velburg"
)
OTHER = Note("The painter Emil Sorge was born in the town of Kassel.", ("[3]",), "Emil Sorge")


class Answers:
    """Reads by heart: the answer to a question, where a passage has it."""

    def __init__(self, answers, probability=0.9):
        self.answers, self.probability, self.asked = answers, probability, []

    def read(self, question, passages):
        self.asked += [(question, passage) for passage in passages]
        found = [(passage.find(answer) if (answer := self.answers.get(question)) else -1) for passage in passages]
        return [
            AnswerSpan(self.probability, start, start + len(self.answers[question]))
            if start >= 0
            else AnswerSpan(0.01, 0, 3)
            for start in found
        ]

    reread = read


def follow(task, answers, *notes):
    return [step.question for step in StepReader(task, notes, Answers(answers)).follow()]


def test_what_is_described_is_put_into_the_question():
    steps = follow(TASK, {"What is the town where Odile Brandt was born?": "Velburg"}, ANCHOR, OTHER)
    assert steps == ["Who is the mayor of Velburg?"]


def test_several_descriptions_are_followed_one_after_the_other():
    task = "Who rules the country where the composer of Dusk was born?"
    notes = (
        Note("Dusk is an opera by Odile Brandt.", (), "Dusk"),
        Note("Odile Brandt was born in Belgium.", (), "Brandt"),
    )
    answers = {
        "Who is the composer of Dusk?": "Odile Brandt",
        "What is the country where Odile Brandt was born?": "Belgium",
    }
    assert follow(task, answers, *notes) == [
        "Who rules the country where Odile Brandt was born?",
        "Who rules Belgium?",
    ]


def test_the_verb_of_the_question_stays_in_it():
    task = "When did the river that feeds Lake Ulm freeze?"
    notes = (Note("The Laaber feeds Lake Ulm. It may freeze.", (), "Laaber"),)
    steps = follow(task, {"What is the river that feeds Lake Ulm freeze?": "Laaber"}, *notes)
    assert steps == ["When did Laaber freeze?"]


def test_what_the_passage_does_not_have_belongs_to_the_question_around():
    task = "Who plays the wife of the actor who made Grey Mill in the film Dusk?"
    notes = (Note("Grey Mill was made by the actor Emil Sorge.", (), "Grey Mill"),)
    steps = follow(task, {"Who is the actor who made Grey Mill in the film Dusk?": "Emil Sorge"}, *notes)
    assert steps == ["Who plays the wife of Emil Sorge in the film Dusk?"]


def test_a_name_of_the_question_is_no_step():
    assert follow(TASK, {"What is the town where Odile Brandt was born?": "Odile Brandt"}, ANCHOR) == []


def test_the_answer_after_the_steps_is_read_in_another_passage():
    reader = Answers(
        {"What is the town where Odile Brandt was born?": "Velburg", "Who is the mayor of Velburg?": "Kathrin Lohse"}
    )
    taken = read_steps(read_question(TASK), (ANCHOR, OTHER, ANSWER), reader)
    assert taken.answers[0].source is ANSWER
    assert ANSWER.text[taken.answers[0].span.start : taken.answers[0].span.end] == "Kathrin Lohse"


def test_without_notes_descriptions_or_a_reader_there_are_no_steps():
    assert read_steps(read_question(TASK), (), Answers({})).steps == ()
    assert read_steps(read_question("Who is the mayor of Velburg?"), (ANSWER,), Answers({})).steps == ()
    assert read_steps(read_question(TASK), (ANCHOR,), None).steps == ()


def test_the_next_query_is_the_question_after_the_step():
    reader = Answers({"What is the town where Odile Brandt was born?": "Velburg"})
    queries = [
        new.query for new in reflect(Reflect(TASK, (ANCHOR, OTHER), (TASK,), (), ("follow up",), 3), reader).new_queries
    ]
    assert queries[0] == "Who is the mayor of Velburg?"
    again = [
        new.query for new in reflect(Reflect(TASK, (ANCHOR, OTHER), (TASK, *queries), (), (), 3), reader).new_queries
    ]
    assert not set(again) & set(queries)


def test_what_was_not_found_is_searched_for_by_its_description():
    queries = [new.query for new in reflect(Reflect(TASK, (OTHER,), (TASK,), (), (), 3), Answers({})).new_queries]
    assert queries[0] == "What is the town where Odile Brandt was born?"


def test_the_reader_of_the_package_takes_the_steps():
    steps = StepReader(TASK, (OTHER, ANCHOR), get_reader()).follow()
    assert steps[0].question == "Who is the mayor of Velburg?"


def test_a_folder_is_searched_for_the_question_after_the_step(tmp_path):
    others = [("Emil Sorge", "Kassel"), ("Rosa Weck", "Ulm"), ("Otto Lind", "Worms"), ("Ida Voss", "Speyer")]
    for name, town in others:
        (tmp_path / f"{name}.txt").write_text(f"The painter {name} was born in the town of {town}.", encoding="utf-8")
    (tmp_path / "Odile Brandt.txt").write_text(ANCHOR.text, encoding="utf-8")
    (tmp_path / "Velburg.txt").write_text(ANSWER.text, encoding="utf-8")
    report = asyncio.run(research(TASK, docs=str(tmp_path), model="extractive", k=2))
    assert "Who is the mayor of Velburg?" in [query for done in report.stop.rounds for query in done.queries]
    assert "Kathrin Lohse" in report.final_answer.replace("*", "")
    assert report.metadata["restated"] == "Who is the mayor of Velburg?"
