"""Data sets: every published format from a tiny made-up folder, sampling, entity swaps, and messages about a wrong folder."""

import json

import pytest

from suffice.errors import InputError
from suffice.lab.data import load_dataset, sample_questions

LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bob",
            "session_1_date_time": "1 May 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "I bought a kite.", "blip_caption": "a red kite"},
                {"speaker": "Bob", "dia_id": "D1:2", "text": "I moved to Graz."},
            ],
        },
        "qa": [
            {"question": "What did Ann buy?", "answer": "a kite", "evidence": ["D1:1"], "category": 4},
            {"question": "When did Bob move?", "answer": 2023, "evidence": ["D1:2; D1:1"], "category": 2},
            {"question": "What did Bob buy?", "adversarial_answer": "a kite", "evidence": ["D1:1"], "category": 5},
            {"question": "What do Ann and Bob like?", "answer": "talk", "evidence": [], "category": 1},
        ],
    }
]
MUSIQUE = {
    "id": "3hop1__1_2_3",
    "question": "Who founded the works?",
    "answer": "Ida",
    "answer_aliases": ["Ida H."],
    "answerable": True,
    "paragraphs": [
        {"idx": 0, "title": "Works", "paragraph_text": "Ida founded them.", "is_supporting": True},
        {"idx": 1, "title": "Graz", "paragraph_text": "A town.", "is_supporting": False},
    ],
}
HOTPOT = {
    "_id": "h1",
    "question": "Which river?",
    "answer": "Mur",
    "type": "bridge",
    "supporting_facts": [["Graz", 0]],
    "context": [["Graz", ["Graz lies on the Mur. ", "It is old."]], ["Wien", ["On the Danube."]]],
}


@pytest.fixture
def folder(tmp_path):
    def make(**files):
        path = tmp_path / "set"
        path.mkdir()
        for name, content in files.items():
            (path / name.replace("_json", ".json").replace(".jsonl", ".jsonl")).write_text(content)
        return path

    return make


def read_corpus(question):
    return {item["id"]: item for item in map(json.loads, question.corpus.read_text().splitlines())}


def test_our_own_format(tiny, tmp_path):
    dataset = load_dataset(tiny, tmp_path)
    first, second, third = dataset.questions
    assert (dataset.name, dataset.format) == ("tiny", "own")
    assert (first.group, first.answers, first.gold) == ("3hop", ("Trieste",), {"p1", "p2", "p3"})
    assert second.group == "2hop"
    assert not third.answerable


def test_locomo_has_categories_turns_and_unanswerable_questions(folder, tmp_path):
    path = folder(locomo10_json=json.dumps(LOCOMO))
    questions = load_dataset(path, tmp_path).questions
    assert [question.group for question in questions] == ["single-hop", "temporal", "adversarial", "multi-hop"]
    assert [question.answerable for question in questions] == [True, True, False, True]
    assert questions[1].gold == {"conv-1 D1:1", "conv-1 D1:2"}
    corpus = read_corpus(questions[0])
    assert corpus["conv-1 D1:1"]["text"] == "Ann: I bought a kite. (shows a picture: a red kite)"
    assert corpus["conv-1 D1:2"]["title"] == "Bob, 1 May 2023"


def test_entity_swaps_exchange_the_one_named_speaker(folder, tmp_path):
    path = folder(locomo10_json=json.dumps(LOCOMO))
    swapped = [question for question in load_dataset(path, tmp_path, "swap").questions if not question.answerable]
    assert [(question.id, question.text) for question in swapped] == [
        ("conv-1 q1 swap", "What did Bob buy?"),
        ("conv-1 q2 swap", "When did Ann move?"),
    ], "the adversarial question is replaced, and one that names both speakers is left out"
    assert load_dataset(path, tmp_path, "swap") == load_dataset(path, tmp_path, "swap")
    assert all(question.answerable for question in load_dataset(path, tmp_path, "none").questions)


def test_musique_as_published(folder, tmp_path):
    unanswerable = {**MUSIQUE, "id": "2hop__9", "answerable": False}
    path = folder(**{"musique_ans_v1.0_dev.jsonl": json.dumps(MUSIQUE) + "\n" + json.dumps(unanswerable) + "\n"})
    first, second = load_dataset(path, tmp_path).questions
    assert (first.group, first.answers) == ("3hop", ("Ida", "Ida H."))
    assert [read_corpus(first)[id]["title"] for id in first.gold] == ["Works"]
    assert (second.group, second.answerable, len(read_corpus(first))) == ("2hop", False, 2)


@pytest.mark.parametrize("name", ["hotpot_dev_distractor_v1_json", "dev_json"])
def test_hotpotqa_and_2wiki_as_published(folder, tmp_path, name):
    (first,) = load_dataset(folder(**{name: json.dumps([HOTPOT])}), tmp_path).questions
    assert read_corpus(first)[next(iter(first.gold))]["text"] == "Graz lies on the Mur. It is old."
    assert first.group == "bridge"


def test_sweqa_needs_the_repositories(folder, tmp_path):
    path = folder(**{"flask.jsonl": json.dumps({"question": "What is g?", "answer": "A namespace."}) + "\n"})
    with pytest.raises(InputError, match="flask"):
        load_dataset(path, tmp_path)
    (path / "flask").mkdir()
    (question,) = load_dataset(path, tmp_path).questions
    assert (question.id, question.group, question.corpus) == ("flask 1", "flask", path / "flask")


def test_a_sample_depends_on_the_seed_and_grows_at_its_end(tiny, tmp_path):
    questions = load_dataset(tiny, tmp_path).questions
    assert sample_questions(questions, 2, 1) == sample_questions(questions, 3, 1)[:2]
    orders = {tuple(question.id for question in sample_questions(questions, None, seed)) for seed in range(20)}
    assert len(orders) > 1
    assert sample_questions(tuple(reversed(questions)), None, 1) == sample_questions(questions, None, 1)


def test_a_wrong_folder_is_explained(folder, tmp_path, tiny):
    with pytest.raises(InputError, match="not a folder"):
        load_dataset(tmp_path / "nowhere", tmp_path)
    with pytest.raises(InputError, match=r"locomo10\.json"):
        load_dataset(folder(**{"readme.txt": "hello"}), tmp_path)
    with pytest.raises(InputError, match="speakers"):
        load_dataset(tiny, tmp_path, "swap")
    (tiny / "questions.jsonl").write_text('{"id": "x"}\n')
    with pytest.raises(InputError, match="question"):
        load_dataset(tiny, tmp_path)
