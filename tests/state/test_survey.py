"""A survey: which files of a scope are taken to be on the question."""

import numpy as np

from suffice.search.base import RankedScope
from suffice.state.survey import Survey
from suffice.types import Passage, Place


def list_relevant(scores: dict[str, float]) -> list[str]:
    passages = tuple(Passage(path, "Words.", path, Place(path), "text") for path in scores)
    scope = RankedScope(passages, np.array(list(scores.values())), np.eye(len(scores)) * 0)
    # Vectors of zero: what was found does not move the ranking, only scales it.
    return [own[0].place.path for own in Survey(scope).list_relevant_files(passages)]


def test_all_files_of_a_folder_on_one_topic_are_relevant() -> None:
    folder = {"a.md": 0.78, "b.md": 0.71, "c.md": 0.68, "d.md": 0.62, "e.md": 0.55}
    assert list_relevant(folder) == list(folder)


def test_files_on_other_matters_are_left_out_however_many_there_are() -> None:
    on_topic = {"a.md": 0.78, "b.md": 0.71, "c.md": 0.62}
    notes = {f"note-{i}.md": 0.02 * i for i in range(12)}
    assert list_relevant({**notes, **on_topic}) == list(on_topic)


def test_no_file_is_relevant_where_none_is_near() -> None:
    assert list_relevant({"a.md": 0.12, "b.md": 0.05}) == []
