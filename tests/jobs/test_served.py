"""A run belongs to the collections it was asked of: the same place, or the same files where machines share the database."""

import os
import shutil
from pathlib import Path

import pytest

from suffice.jobs.requests import JobRequest, parse_request
from suffice.jobs.served import ServedCollections


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "contracts"
    (folder / "old").mkdir(parents=True)
    (folder / "lease.txt").write_text("The rent is due on the first.\n")
    (folder / "old" / "loan.txt").write_text("The loan ends in 2030.\n")
    return folder


def serve(host: str | None = None, /, **collections: object) -> ServedCollections:
    served = ServedCollections({name: [str(path)] for name, path in collections.items()}, host)
    served.read_tags()
    return served


def ask(served: ServedCollections, *names: str) -> JobRequest:
    """Return a request as another process reads it."""
    return parse_request(served.bind(JobRequest("When?", collections=names)).to_json())


def test_an_edited_folder_stays_the_same_collection(folder: Path) -> None:
    request = ask(serve("ada", contracts=folder))
    (folder / "new.txt").write_text("More.")
    assert serve("ada", contracts=folder).serves(request)


def test_other_folders_and_names_are_other_collections(folder: Path, tmp_path: Path) -> None:
    request = ask(serve(contracts=folder))
    assert not serve(mix=folder).serves(request)
    assert not serve(contracts=tmp_path).serves(request)
    assert not serve().serves(request)
    assert serve(mix=tmp_path, contracts=folder).serves(request)


def test_a_request_without_names_searches_what_there_was(folder: Path, tmp_path: Path) -> None:
    one = serve(contracts=folder)
    both = serve(contracts=folder, mix=tmp_path)
    assert ask(both).collections == ("contracts", "mix")
    assert not one.serves(ask(both))
    assert one.serves(ask(both, "contracts"))
    assert both.serves(ask(one))


def test_a_copy_on_another_machine_is_the_same_collection(folder: Path, tmp_path: Path) -> None:
    request = ask(serve("ada", contracts=folder))
    copy = tmp_path / "elsewhere"
    shutil.copytree(folder, copy)
    (copy / ".hidden").write_text("Not indexed.")
    ben = serve("ben", contracts=copy)
    assert ben.serves(request)
    assert ben.digest == serve("ada", contracts=folder).digest
    (copy / "lease.txt").write_text("The rent is due on the last day of a month.\n")
    assert not serve("ben", contracts=copy).serves(request)


def test_the_same_path_on_another_machine_with_other_files_is_another_collection(folder: Path) -> None:
    request = ask(serve("ada", contracts=folder))
    (folder / "old" / "loan.txt").unlink()
    assert not serve("ben", contracts=folder).serves(request)


def test_a_process_remembers_how_its_files_were(folder: Path) -> None:
    ben = serve("ben", contracts=folder)
    before = ask(serve("ada", contracts=folder))
    os.rename(folder / "lease.txt", folder / "rent.txt")
    after = ask(serve("ada", contracts=folder))
    assert not ben.serves(after)
    ben.read_tags()
    assert ben.serves(before)
    assert ben.serves(after)


def test_a_corpus_behind_an_address_is_the_same_from_everywhere() -> None:
    def address(user: str, host: str) -> str:
        return f"postgres://{user}:secret@{host}/wiki/pages"

    request = ask(serve("ada", wiki=address("ann", "db")))
    assert "secret" not in request.to_json()
    assert serve("ben", wiki=address("bob", "db")).serves(request)
    assert not serve("ben", wiki=address("ann", "other")).serves(request)
    here = ask(serve("ada", wiki=address("ann", "localhost")))
    assert serve("ada", wiki=address("ann", "localhost")).serves(here)
    assert not serve("ben", wiki=address("ann", "localhost")).serves(here)


def test_requests_of_earlier_versions_are_known_by_name(folder: Path) -> None:
    stored = '{"task": "When?", "options": {}, "collections": ["contracts"], "folder": null}'
    assert serve(contracts=folder).accepts(stored)
    assert not serve(mix=folder).accepts(stored)
