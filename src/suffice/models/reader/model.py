"""The model that reads a passage with a claim or a question in mind. It needs no network and no key.

Three cross-encoders (int8, ONNX): ``claims`` judges what a passage says of a claim, ``answers`` whether it answers a question,
and where, both of 22 million parameters; ``large``, of 110 million, says both again where it matters: of claims that the
small one is not sure of, and of the few passages that lead for a question. They were trained on English; ``training/reader``
holds their recipe and their model card. They know nothing of figures beyond their letters: rules check those.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ModelError
from suffice.models.embeddings.minilm import load_tokenizer, open_session, run_on_cores, verify_model_file
from suffice.models.reading import AnswerSpan

_FOLDER = Path(__file__).parent
MODELS = ("claims", "answers", "large")  # Each has a file of weights.
# Lengths as in the training: claim or question, and both together with three marks.
_MAX_FIRST_TOKENS = 160
_MAX_TOKENS = 512
_WINDOW_OVERLAP = 96
_MAX_ANSWER_TOKENS = 24
_FIGURE_MARGIN = 1.5  # Logits by which a figure may be the less likely start; of 191 answers in documents four change.
_SURE = 0.9  # P(supported) from which on the word of the small model is enough, and likewise 1 - P.
_REMEMBERED = 2_000  # Pairs of question and passage, a few megabytes.


@dataclass(frozen=True, slots=True)
class _Window:
    """One text pair that fits the model: a claim or question, and part of a passage."""

    ids: list[int]
    passage_start: int  # Index of the passage's first token in ids.
    offsets: list[tuple[int, int]]  # Where the passage's tokens stand in its text.


class ReaderModel:
    """Judges claims against passages and finds answers in them. Loads at first use; thread-safe.

    Pairs are read one by one: the int8 weights scale their inputs by the largest value of a batch, so in batches a
    pair's probabilities would depend on its neighbours.
    """

    def __init__(self, folder: Path = _FOLDER) -> None:
        self._folder = folder
        # Rounds and drafts ask the same of the same passage.
        self._read_once = lru_cache(maxsize=_REMEMBERED)(self._read)

    @property
    def digest(self) -> str:
        """The SHA-256 of the weights that judge claims, one after the other."""
        return "".join(str(_read_provenance(self._folder, model)["sha256"]) for model in ("claims", "large"))

    def verify(self) -> None:
        """Raise ``ModelError`` if a file is missing or is not the expected one."""
        for model in MODELS:
            verify_model_file(self._folder / f"{model}.onnx", _read_provenance(self._folder, model)["crc32"])

    def judge(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return P(supported), P(contradicted), P(not enough) of each pair of claim and passage, one row each.

        Where the small model is not sure whether the passage supports the claim, the mean of both models decides.
        """
        return np.array(run_on_cores(self._judge, pairs)).reshape(-1, 3)

    def _judge(self, pair: tuple[str, str]) -> NDArray[np.float64]:
        found = self.judge_by("claims", *pair)
        if abs(found[0] - 0.5) < _SURE - 0.5:
            found = np.sqrt(found * self.judge_by("large", *pair))
        return np.asarray(found / found.sum())

    def judge_by(self, model: str, claim: str, passage: str) -> NDArray[np.float64]:
        """Return what one model says. A long passage is read in windows; the one with the least P(not enough) decides."""
        temperature = _read_provenance(self._folder, model)["temperature"]["claims"]
        rows = []
        for window in self._windows(claim, passage):
            logits = self._run(model, window, "claims")[0][0] / temperature
            row = np.exp(logits - logits.max())
            rows.append(row / row.sum())
        return min(rows, key=lambda row: float(row[2]))

    def read(self, question: str, passages: Sequence[str]) -> list[AnswerSpan]:
        """Return the answer span of each passage, in order, with the probability that the passage answers at all."""
        return run_on_cores(partial(self._read_once, "answers", question), passages)

    def reread(self, question: str, passages: Sequence[str]) -> list[AnswerSpan]:
        """Return the same by the large model: surer, in four times the time."""
        return run_on_cores(partial(self._read_once, "large", question), passages)

    def _read(self, model: str, question: str, passage: str) -> AnswerSpan:
        temperature = _read_provenance(self._folder, model)["temperature"]["answers"]
        best = AnswerSpan(0.0, 0, 0)
        for window in self._windows(question, passage):
            answerable, ends = self._run(model, window, "answerable", "ends")
            probability = float(1 / (1 + np.exp(-answerable[0] / temperature)))
            if window.offsets and probability > best.probability:
                scores = ends[0, window.passage_start : window.passage_start + len(window.offsets)]
                first, last = _best_span(
                    scores, [category(passage[start]) in ("Nd", "Sc") for start, _ in window.offsets]
                )
                best = AnswerSpan(probability, window.offsets[first][0], window.offsets[last][1])
        return best

    def _windows(self, first: str, passage: str) -> Iterator[_Window]:
        tokenizer = load_tokenizer(None)
        own, read = tokenizer.encode_batch([first, passage], add_special_tokens=False)
        end_mark = tokenizer.token_to_id("[SEP]")
        head = [tokenizer.token_to_id("[CLS]"), *own.ids[:_MAX_FIRST_TOKENS], end_mark]
        size = _MAX_TOKENS - len(head) - 1
        start = 0
        while True:
            part = slice(start, start + size)
            yield _Window([*head, *read.ids[part], end_mark], len(head), read.offsets[part])
            if start + size >= len(read.ids):
                break
            start += size - _WINDOW_OVERLAP

    def _run(self, model: str, window: _Window, *outputs: str) -> list[NDArray[np.float32]]:
        session = open_session(self._folder / f"{model}.onnx", _read_provenance(self._folder, model)["crc32"])
        ids = np.array([window.ids], np.int64)
        kinds = np.zeros_like(ids)
        kinds[0, window.passage_start :] = 1
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": kinds}
        return session.run(list(outputs), feed)  # type: ignore[no-any-return]


@cache
def get_reader() -> ReaderModel:
    """Return the reader that all runs and checks of this process share."""
    return ReaderModel()


@cache
def find_reader() -> ReaderModel | None:
    """Return the shared reader, or ``None`` if its files are missing or changed."""
    try:
        get_reader().verify()
    except ModelError:
        return None
    return get_reader()


def _best_span(scores: NDArray[np.float32], begins_figure: Sequence[bool]) -> tuple[int, int]:
    """Return first and last token of the span with the highest sum of start and end scores.

    A figure in front that is nearly as likely a start belongs to it: "5,700 t of diesel", not "diesel".
    """
    sums = scores[:, 0][:, None] + scores[:, 1][None, :]
    width = np.arange(len(scores))[None, :] - np.arange(len(scores))[:, None]
    sums[(width < 0) | (width >= _MAX_ANSWER_TOKENS)] = -np.inf
    first, last = divmod(int(np.argmax(sums)), len(scores))
    near = np.isfinite(sums[:, last]) & (scores[:, 0] >= scores[first, 0] - _FIGURE_MARGIN) & np.array(begins_figure)
    return min([first, *np.flatnonzero(near).tolist()]), last


@cache
def _read_provenance(folder: Path, model: str) -> dict[str, Any]:
    """Return the record of a model, with its hash and its temperatures."""
    try:
        record: dict[str, Any] = json.loads((folder / "provenance.json").read_text(encoding="utf-8"))[model]
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"The reader model cannot be loaded ({error}); install suffice again") from error
    return record
