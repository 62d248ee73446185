"""The reader that comes with the package: claims, answers, long passages, and a file that is missing or wrong."""

import json
import zlib
from pathlib import Path

import numpy as np
import pytest

from suffice.errors import ModelError
from suffice.models.embeddings.minilm import verify_model_file
from suffice.models.reader.model import ReaderModel, get_reader

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


@pytest.mark.parametrize("amount", ["400,000 litres", "5,700 t", "€ 300,000 worth", "80 %"])
def test_an_amount_keeps_its_figure(amount):
    passage = f"The electric ferry saves {amount} of diesel a year."
    (answer,) = get_reader().reread("What does an electric ferry save?", [passage])
    assert passage[answer.start : answer.end].startswith(f"{amount} of diesel")


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
    (tmp_path / "provenance.json").write_text(json.dumps({"claims": {"crc32": 0, "temperature": {"claims": 1.0}}}))
    with pytest.raises(ModelError, match="not the expected model"):
        ReaderModel(tmp_path).judge([("a", "b")])


def test_the_large_reader_finds_the_answer_too_and_its_pieces_are_verified_together(tmp_path: Path) -> None:
    [answer, none] = get_reader().reread("Who designed the Meridian bridge?", [TOWER, NOISE])
    assert answer.probability > 0.5 > none.probability
    checksum = zlib.crc32(b"two pieces")
    (tmp_path / "model.onnx.0").write_bytes(b"two ")
    with pytest.raises(ModelError):
        verify_model_file(tmp_path / "model.onnx", checksum)
    verify_model_file.cache_clear()
    (tmp_path / "model.onnx.1").write_bytes(b"pieces")
    verify_model_file(tmp_path / "model.onnx", checksum)


def test_a_passage_is_read_once_for_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, asked = ReaderModel(), []
    run = reader._run
    monkeypatch.setattr(reader, "_run", lambda job, *rest: asked.append(job) or run(job, *rest))
    answers = [reader.read("Who designed the Meridian bridge?", [TOWER]) for _ in range(3)]
    assert asked == ["answers"]
    assert answers[0] == answers[2]


def test_the_large_model_is_asked_only_about_claims_that_the_small_one_is_not_sure_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = {"claims": {"sure": [0.9, 0.05, 0.05], "refused": [0.1, 0.2, 0.7], "unsure": [0.4, 0.4, 0.2]}}
    said["large"] = {"unsure": [0.9, 0.05, 0.05]}
    monkeypatch.setattr(ReaderModel, "judge_by", lambda _, model, claim, passage: np.array(said[model][claim]))
    sure, refused, unsure = ReaderModel().judge([(claim, TOWER) for claim in ("sure", "refused", "unsure")])
    assert list(sure) == said["claims"]["sure"]
    assert list(refused) == said["claims"]["refused"]
    assert 0.5 < unsure[0] < 0.9
    assert unsure.sum() == pytest.approx(1)
