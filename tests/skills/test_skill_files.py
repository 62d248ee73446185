"""Reading ``SKILL.md`` files, and the slash commands at the start of a question."""

from pathlib import Path

import pytest

from suffice.errors import InputError
from suffice.skills.activate import choose_skills, merge_options, parse_command
from suffice.skills.load import load_skills

HEAD = "---\nname: {name}\ndescription: Says it shortly.\n{more}---\n{body}"


def write_skill(folder: Path, name: str, more: str = "", body: str = "Write one sentence.") -> Path:
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(HEAD.format(name=name, more=more, body=body))
    return path


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("question", "names", "rest"),
    [
        ("/deep How?", ("deep",), "How?"),
        ("  /DEEP\n/cite How?", ("deep", "cite"), "How?"),
        ("What does GET /jobs do?", (), "What does GET /jobs do?"),
        ("/etc/hosts has which format?", (), "/etc/hosts has which format?"),
        ("/ is what?", (), "/ is what?"),
        ('"/jobs" returns what?', (), '"/jobs" returns what?'),
    ],
)
def test_only_leading_commands_are_skills(question: str, names: tuple[str, ...], rest: str) -> None:
    assert parse_command(question) == (names, rest)


def test_unknown_skill_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"/depe.*/deep"):
        choose_skills("/depe How?", tmp_path)


def test_skill_without_a_question_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="/deep"):
        choose_skills("/deep", tmp_path)
    with pytest.raises(InputError, match="/compare A vs B by"):
        choose_skills("/compare", tmp_path)


def test_two_skills_that_replace_the_search_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="/recall and /check"):
        choose_skills("/recall /check It is so.", tmp_path)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Give a comprehensive overview of bees", ["deep"]),
        ("An in-depth look at bees", ["deep"]),
        ("Not an exhaustive list of bees, please", []),
        ('What does the test "exhaustive" check?', []),
        ("Which comprehension is faster?", []),
    ],
)
def test_words_of_the_question_activate_a_skill(tmp_path: Path, question: str, expected: list[str]) -> None:
    assert [one.skill.name for one in choose_skills(question, tmp_path)[1]] == expected
    assert not choose_skills(question, tmp_path, automatic=False)[1]


def test_user_skill_sets_options_and_instruction(tmp_path: Path) -> None:
    more = (
        "metadata:\n  suffice-options: tier=simple, stop=fixed(2), k=3, review=false\n  suffice-activates: in short\n"
    )
    write_skill(tmp_path / "config" / "skills", "brief", more)
    task, active = choose_skills("/brief How?", tmp_path / "config")
    assert task == "How?"
    assert active[0].skill.instruction == "Write one sentence."
    assert active[0].skill.hooks == ("before_search", "before_writing")
    assert merge_options(active) == {"tier": "simple", "stop": "fixed(2)", "k": 3, "review": False}
    assert [one.why for one in choose_skills("How, in short?", tmp_path / "config")[1]] == [
        'the question says "in short"'
    ]


def test_project_skill_acts_only_when_named(tmp_path: Path) -> None:
    write_skill(tmp_path / ".suffice" / "skills", "brief", "metadata:\n  suffice-activates: in short\n")
    assert not choose_skills("How, in short?", tmp_path / "config")[1]
    assert [one.skill.origin for one in choose_skills("/brief How?", tmp_path / "config")[1]] == ["project"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Just text", "must begin with a head"),
        ("---\nname: [\n---\n", "not YAML"),
        ("---\n- a\n---\nx", "lines such as"),
        ("---\nname: brief\n---\nx", "no description"),
        ("---\ndescription: x\n---\nx", "no name"),
        ("---\nname: other\ndescription: x\n---\nx", "folder"),
        ("---\nname: Brief!\ndescription: x\n---\nx", "small letters"),
        ("---\nname: brief\ndescription: x\n---\n", "does nothing"),
        ("---\nname: brief\ndescription: x\nmetadata:\n  suffice-options: model=evil\n---\nx", "model=evil"),
        ("---\nname: brief\ndescription: x\nmetadata:\n  suffice-options: docs=/etc\n---\nx", "docs=/etc"),
        ("---\nname: brief\ndescription: x\nmetadata:\n  suffice-hooks: later\n---\nx", "later"),
        ("---\nname: brief\ndescription: x\nmetadata:\n  suffice-hooks: instead\n---\nx", "Python"),
        ("---\nname: brief\ndescription: x\nmetadata:\n  suffice-color: red\n---\nx", "suffice-color"),
    ],
)
def test_malformed_file_is_one_clear_line(tmp_path: Path, text: str, problem: str) -> None:
    path = write_skill(tmp_path / "skills", "brief")
    path.write_text(text)
    known = load_skills(tmp_path, tmp_path)
    assert problem in known.problems["brief"]
    assert "\n" not in known.problems["brief"]
    with pytest.raises(InputError, match="/brief cannot be used"):
        known.get("brief")
    told: list[str] = []
    assert choose_skills("How?", tmp_path, notify=told.append)[0] == "How?"
    assert told == [known.problems["brief"]]


def test_built_in_skill_cannot_be_replaced(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "deep")
    known = load_skills(tmp_path, tmp_path)
    assert known.skills["deep"].origin == "built in"
    assert "built in" in known.problems["deep"]
