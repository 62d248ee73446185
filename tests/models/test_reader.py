"""The reader that comes with the package: claims, answers, long passages, and a file that is missing or wrong."""

import json

import pytest

from suffice.errors import ModelError
from suffice.models.reader import ReaderModel, get_reader

TOWER = (
    "The Meridian bridge is a wrought-iron bridge over the river Aldan in Karsholm. It was designed by the engineer Ada "
    "Halloran and built from 1887 to 1889. It carried trams until 1956, when the line was closed."
)
NOISE = "The museum is open every day except on public holidays, and children enter free of charge. " * 60


def test_claims_are_told_apart_by_meaning():
    claims = (
        "Ada Halloran was the designer of the bridge.",
        "The Meridian bridge was designed in Peru by nobody.",
        "The bridge was painted red.",
    )
    judged = get_reader().judge([(claim, TOWER) for claim in claims])
    assert judged.shape == (3, 3)
    assert judged.sum(axis=1) == pytest.approx([1, 1, 1])
    assert judged[0, 0] > 0.5 > max(judged[1, 0], judged[2, 0])


def test_a_pair_is_judged_the_same_alone_and_among_others():
    pair = ("Trams ran over the bridge until 1956.", TOWER)
    alone = get_reader().judge([pair])
    among = get_reader().judge([("The museum is closed on Monday.", NOISE), pair])
    assert among[1].tolist() == alone[0].tolist()


def test_an_answer_is_found_where_it_stands():
    [answer, none] = get_reader().read("Who designed the Meridian bridge?", [TOWER, NOISE])
    assert "Halloran" in TOWER[answer.start : answer.end]
    assert answer.probability > 0.5 > none.probability


def test_the_end_of_a_long_passage_is_read_too():
    long = NOISE + TOWER
    [answer] = get_reader().read("Who designed the Meridian bridge?", [long])
    assert "Halloran" in long[answer.start : answer.end]
    assert get_reader().judge([("Ada Halloran designed the Meridian bridge.", long)])[0, 0] > 0.5


@pytest.mark.parametrize("text", ["", " "])
def test_an_empty_passage_answers_nothing(text):
    [answer] = get_reader().read("Who designed the bridge?", [text])
    assert (answer.start, answer.end) == (0, 0)
    assert get_reader().read("Who designed the bridge?", []) == []
    assert get_reader().judge([]).shape == (0, 3)


def test_a_missing_or_changed_file_is_said_in_one_sentence(tmp_path):
    with pytest.raises(ModelError, match="install suffice again"):
        ReaderModel(tmp_path).judge([("a", "b")])
    (tmp_path / "claims.onnx").write_bytes(b"no model")
    (tmp_path / "provenance.json").write_text(json.dumps({"claims": {"sha256": "0", "temperature": 1.0}}))
    with pytest.raises(ModelError, match="not the expected model"):
        ReaderModel(tmp_path).judge([("a", "b")])
