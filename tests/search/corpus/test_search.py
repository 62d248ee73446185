"""Ranking by words, by meaning and by both, and the passages that result."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from suffice.errors import InputError
from suffice.models.embeddings.minilm import MiniLM
from suffice.search.base import Search
from suffice.search.corpus.search import MAX_CANDIDATES, CorpusSearch
from suffice.types import Passage, Query

DATA = Path(__file__).parents[4] / "shared" / "data"


class Letters:
    """An embedder without a model: the frequency of each letter."""

    name = "letters-1"
    dimension = 26
    is_remote = False

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.embedded.extend(texts)
        counts = np.array([[text.lower().count(chr(97 + i)) + 1e-3 for i in range(26)] for text in texts], np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)


class EnglishLetters(Letters):
    name = "letters-en-1"
    is_english_only = True


class Unwanted:
    name = "unwanted"
    dimension = 2
    is_remote = False

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        raise AssertionError("no embedding is needed here")


def opened(*roots: Path, **options: object) -> CorpusSearch:
    settings: dict[str, object] = {"cache_dir": None, "alpha": 1.0, **options}
    return asyncio.run(CorpusSearch.open(list(roots), **settings))  # type: ignore[arg-type]


def found(corpus: CorpusSearch, text: str, k: int = 5) -> list[Passage]:
    return asyncio.run(corpus(Query(text), k))


def records(path: Path, **texts: str) -> Path:
    lines = [json.dumps({"id": key, "title": key, "text": text}) for key, text in texts.items()]
    path.write_text("\n".join(lines))
    return path


def test_corpus_search_is_a_search(tmp_path: Path) -> None:
    assert isinstance(opened(records(tmp_path / "c.jsonl", a="one")), Search)


def test_a_place_outside_the_working_directory_is_written_as_the_folder_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("docs/part", "work"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "docs/part/guide.md").write_text("The heron waits by the river.\n")
    monkeypatch.chdir(tmp_path / "work")
    for root, path in (
        (Path("../docs"), "../docs/part/guide.md"),
        (Path("../docs/part/guide.md"), "../docs/part/guide.md"),
        (tmp_path / "docs", str(tmp_path / "docs/part/guide.md")),
    ):
        [passage] = found(opened(root), "heron")
        assert passage.place.path == path
        assert Path(path).is_file()


def test_place_is_relative_to_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "guide.md").write_text("# Guide\n\nThe heron waits by the river.\n")
    corpus = opened(tmp_path / "docs")
    monkeypatch.chdir(tmp_path)
    [passage] = found(corpus, "heron")
    assert passage.place.path == "docs/guide.md"
    assert passage.id == passage.location
    assert passage.place.lines is not None
    first, last = passage.place.lines
    lines = Path(passage.place.path).read_text().splitlines()
    assert "\n".join(lines[first - 1 : last]) == passage.text
    monkeypatch.chdir("/")
    assert Path(found(corpus, "heron")[0].place.path) in {
        tmp_path / "docs" / "guide.md",
        (tmp_path / "docs" / "guide.md").relative_to("/"),
    }


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("東京都は日本の首都です。", "日本の首都"),
        ("北京是中华人民共和国的首都。", "共和国首都"),
        ("Москва стоит на реке.", "МОСКВА"),
        ("Le café de la gare est fermé.", "CAFE ferme"),
        ("Un cafe\u0301 décomposé.", "café"),
        ("ＦＵＬＬ width letters", "full"),
        ("Running wolves crossed the ridges.", "wolf's ridge run"),
        ("สวัสดีชาวโลก", "ชาวโลก"),
    ],
)
def test_text_in_any_script_is_found(tmp_path: Path, text: str, query: str) -> None:
    corpus = opened(records(tmp_path / "c.jsonl", right=text, other="Nothing to see here, zebra."))
    assert [passage.id for passage in found(corpus, query)] == ["right"]


@pytest.mark.parametrize(
    "query",
    ["heron AND (", '"heron', "heron:^~*?[]{}\\/", "+heron -heron", "NOT heron", "words:heron", "heron " * 5000],
)
def test_query_has_no_syntax(tmp_path: Path, query: str) -> None:
    corpus = opened(records(tmp_path / "c.jsonl", a="The heron waits.", b="A mill turns."))
    assert found(corpus, query)[0].id == "a"


@pytest.mark.parametrize("query", ["", "  ", "?!… --", "\x00", "𝄞"])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_query_without_words_finds_nothing(tmp_path: Path, query: str, alpha: float) -> None:
    corpus = opened(records(tmp_path / "c.jsonl", a="The heron waits."), alpha=alpha, embedder=Unwanted())
    assert found(corpus, query) == []


def test_alpha_one_embeds_nothing_and_the_best_scores_one(tmp_path: Path) -> None:
    corpus = opened(records(tmp_path / "c.jsonl", a="heron heron", b="a heron by the old mill"), embedder=Unwanted())
    passages = found(corpus, "heron")
    assert [passage.id for passage in passages] == ["a", "b"]
    assert passages[0].score == 1.0


def test_alpha_half_embeds_candidates_only(tmp_path: Path) -> None:
    letters = Letters()
    file = records(tmp_path / "c.jsonl", a="heron zzz", b="heron heron qqq", c="nothing of the kind")
    corpus = opened(file, alpha=0.5, embedder=letters)
    passages = found(corpus, "heron zzz")
    assert passages[0].id == "a"
    assert sorted(letters.embedded) == ["a. heron zzz", "b. heron heron qqq", "heron zzz"]


def test_alpha_zero_finds_passages_without_a_common_word(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    file = records(tmp_path / "c.jsonl", a="zzzz", b="qqqq")
    corpus = opened(file, alpha=0.0, embedder=Letters(), progress=lambda *step: seen.append(step))
    assert found(corpus, "zz")[0].id == "a"
    assert seen[-1] == ("embedding", 2, 2)
    assert found(corpus, "qq")[0].id == "b"


def test_minilm_ranks_by_meaning(tmp_path: Path) -> None:
    file = records(
        tmp_path / "c.jsonl",
        animal="The doctor treated a sick puppy at the clinic.",
        money="The doctor paid a parking ticket.",
    )
    corpus = opened(file, alpha=0.0, embedder=MiniLM())
    assert [passage.id for passage in found(corpus, "veterinary care for a young dog", 2)] == ["animal", "money"]


def test_near_duplicates_are_dropped(tmp_path: Path) -> None:
    text = " ".join(f"word{i}" for i in range(40))
    corpus = opened(records(tmp_path / "c.jsonl", a=text, b=f"{text} extra", c="word1 but otherwise another passage"))
    assert [passage.id for passage in found(corpus, "word1 word2 word3")] == ["a", "c"]


def test_shared_record_id_is_qualified_in_the_later_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    one = records(tmp_path / "one.jsonl", p1="The heron waits.")
    two = records(tmp_path / "two.jsonl", p1="A heron flew over the mill and away.", p2="Another heron, seen in May.")
    ids = {passage.place.path: passage.id for passage in found(opened(two, one), "heron may") if passage.id != "p2"}
    assert ids == {"two.jsonl": "p1", "one.jsonl": "one.jsonl#p1"}


def test_chunks_of_one_long_line_have_distinct_ids(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text(" ".join(f"word{i} heron." for i in range(3000)))
    corpus = opened(tmp_path)
    ids = [passage.id for passage in found(corpus, "heron", corpus.size)]
    assert len(ids) == len(set(ids)) == corpus.size > 1


def test_results_are_reproducible(tmp_path: Path) -> None:
    file = records(tmp_path / "c.jsonl", **{f"r{i}": f"heron number{i}" for i in range(300)})
    first = [(passage.id, passage.score) for passage in found(opened(file, alpha=0.5, embedder=Letters()), "heron", 20)]
    again = [(passage.id, passage.score) for passage in found(opened(file, alpha=0.5, embedder=Letters()), "heron", 20)]
    assert first == again


def test_standard_input(tmp_path: Path) -> None:
    corpus = asyncio.run(
        CorpusSearch.open(["-"], cache_dir=tmp_path / "cache", alpha=1.0, stdin_text="one\n\nThe heron waits.\n")
    )
    assert found(corpus, "heron")[0].place.path == "-"
    assert not (tmp_path / "cache" / "index").exists()


@pytest.mark.parametrize("text", [None, "", "  \n"])
def test_empty_standard_input_raises_input_error(text: str | None) -> None:
    with pytest.raises(InputError):
        asyncio.run(CorpusSearch.open(["-"], cache_dir=None, stdin_text=text))


def test_unusable_input_raises_input_error(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no readable text"):
        opened(tmp_path / "empty")
    (tmp_path / "note.md").write_text("A heron.")
    with pytest.raises(InputError, match=r"that fits --include \*\.pdf"):
        opened(tmp_path, include=["*.pdf"])
    with pytest.raises(InputError, match="alpha"):
        opened(tmp_path, alpha=1.5)
    with pytest.raises(InputError, match="does not exist"):
        opened(tmp_path / "absent")


def test_cancelling_stops_the_indexing(tmp_path: Path) -> None:
    for i in range(200):
        (tmp_path / f"{i}.txt").write_text("heron")
    done: list[int] = []

    async def scenario() -> None:
        task: asyncio.Task[CorpusSearch] | None = None
        loop = asyncio.get_running_loop()

        def progress(stage: str, number: int, total: int) -> None:
            done.append(number)
            if number == 5 and task is not None:
                loop.call_soon_threadsafe(task.cancel)
                asyncio.run_coroutine_threadsafe(asyncio.sleep(0.05), loop).result()

        task = asyncio.create_task(CorpusSearch.open([tmp_path], cache_dir=None, alpha=1.0, progress=progress))
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())
    assert len(done) < 200


@pytest.mark.skipif(not (DATA / "musique" / "corpus.jsonl").is_file(), reason="needs the shared data")
def test_real_collection_keeps_its_ids() -> None:
    corpus = opened(DATA / "musique" / "corpus.jsonl")
    assert corpus.size >= 7_690
    assert found(corpus, "capital of the Andaman and Nicobar Islands")[0].id == "p0"


def make_many(folder: Path, count: int = 40) -> Path:
    texts = {f"p{n}": f"The heron number {n} waits by the river of the {n}th valley." for n in range(count)}
    return records(folder / "many.jsonl", **texts)


def test_a_question_embeds_one_stretch_of_each_candidate(tmp_path: Path) -> None:
    embedder = EnglishLetters()
    texts = {f"p{n}": f"The heron number {n} waits by the river of valley {n}. " * 12 for n in range(200)}
    corpus = opened(records(tmp_path / "many.jsonl", **texts), alpha=0.5, embedder=embedder)
    assert embedder.embedded == []
    found(corpus, "Where does the heron wait?")
    assert 1 + MAX_CANDIDATES <= len(embedder.embedded) <= 1 + 2 * MAX_CANDIDATES


def test_after_embedding_ahead_a_question_embeds_no_passage(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    asyncio.run(opened(make_many(tmp_path), alpha=0.5, embedder=EnglishLetters(), cache_dir=cache).embed_passages())
    later = EnglishLetters()
    corpus = opened(tmp_path / "many.jsonl", alpha=0.5, embedder=later, cache_dir=cache)
    question = "Where does the heron wait in the 7th valley?"
    assert len(found(corpus, question)) == 5
    assert later.embedded == [question]


def test_embedding_ahead_costs_only_what_is_new(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    asyncio.run(opened(make_many(tmp_path), alpha=0.5, embedder=EnglishLetters(), cache_dir=cache).embed_passages())
    later = EnglishLetters()
    stages: list[tuple[str, int, int]] = []
    corpus = opened(
        make_many(tmp_path, 41), alpha=0.5, embedder=later, cache_dir=cache, progress=lambda *args: stages.append(args)
    )
    asyncio.run(corpus.embed_passages())
    assert len(later.embedded) == 1
    assert stages[-1] == ("embedding", 41, 41)


def test_a_stray_passage_is_not_a_language_of_the_corpus(tmp_path: Path) -> None:
    english = {f"e{n}": f"The {n} boats of the old harbour are painted in the spring." for n in range(7)}
    german = {f"g{n}": f"Die {n} Boote im alten Hafen werden im Frühling gestrichen." for n in range(4)}
    corpus = opened(records(tmp_path / "c.jsonl", **english, **german, menu="Le Bar de la Mer et la Table de la Plage"))
    assert corpus._index.count_languages()["french"] == 1
    assert corpus.languages == ("english", "german")


def test_a_language_that_the_embedder_does_not_know_is_ranked_by_words(tmp_path: Path) -> None:
    texts = {f"p{n}": f"Der Reiher Nummer {n} wartet am Fluss, und die Fische sind im Wasser." for n in range(9)}
    docs = records(tmp_path / "c.jsonl", **texts, best="Die Häuser der Stadt stehen am Fluss und im Tal.")
    embedder = EnglishLetters()
    corpus = opened(docs, alpha=0.5, embedder=embedder)
    assert corpus.language == "german"
    assert found(corpus, "Haus am Fluss")[0].id == "best"
    assert not embedder.embedded


def test_a_multilingual_embedder_is_used_for_every_language(tmp_path: Path) -> None:
    embedder = Letters()
    corpus = opened(
        records(tmp_path / "c.jsonl", a="Die Häuser der Stadt stehen am Fluss."), alpha=0.5, embedder=embedder
    )
    found(corpus, "Haus")
    assert len(embedder.embedded) == 2
