"""Addresses of corpora: what is one, and that its secrets are not shown."""

import pytest

from suffice.errors import InputError
from suffice.jobs.requests import JobRequest, parse_collections, parse_request
from suffice.options import RunOptions
from suffice.search.engines.address import is_address, remove_secrets
from suffice.search.engines.elastic import parse_elastic
from suffice.search.engines.postgres import parse_postgres


@pytest.mark.parametrize(
    "text", ["postgres://h/d/c", "postgresql://h/d/c", "POSTGRES://h/d/c", "elasticsearch://h/i", "opensearch://h/i"]
)
def test_addresses(text):
    assert is_address(text)


@pytest.mark.parametrize("text", ["docs", "postgres", "C:/docs", "https://example.org/a", "mysql://h/d", "-"])
def test_not_addresses(text):
    assert not is_address(text)
    assert remove_secrets(text) == text


@pytest.mark.attack("passwords in addresses")
@pytest.mark.parametrize(
    "text",
    [
        "postgres://ann:hunter2@db:5432/wiki/pages?sslmode=require",
        "postgres://ann@db/wiki/pages?password=hunter2",
        "postgres://:hunter2@db/wiki/pages",
        "elasticsearch://ann:hunter2@db/pages?text=body",
        "opensearch://db/pages?api_key=hunter2&text=body",
        "postgres://ann:hunter2@[db/wiki/pages",
    ],
)
def test_secrets_are_removed(text):
    assert "hunter2" not in remove_secrets(text)
    stored = JobRequest("Why?", RunOptions(docs=[text]), working_dir="/").to_json()
    assert "hunter2" not in stored
    assert parse_request(stored).options.docs == (remove_secrets(text),)


def test_what_is_no_secret_stays():
    assert remove_secrets("postgres://ann:hunter2@db/wiki/pages?sslmode=require&host=/tmp/a") == (
        "postgres://ann@db/wiki/pages?sslmode=require&host=/tmp/a"
    )


def test_a_collection_may_be_an_address():
    address = "postgres://ann:hunter2@db/wiki/pages?sslmode=require"
    assert parse_collections([f"wiki={address}", address]) == {"wiki": [address], "default": [address]}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("postgres://ann:hunter2@db/wiki", "collection"),
        ("postgres://ann:hunter2@db/wiki/a/b", "collection"),
        ("postgres://ann:hunter2@db/wiki/No%20Spaces", "a-z"),
        ("postgres://ann:hunter2@db:x/wiki/pages", "address"),
    ],
)
def test_wrong_postgres_address(text, named):
    with pytest.raises(InputError, match=named) as caught:
        parse_postgres(text)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("elasticsearch://ann:hunter2@db", "index"),
        ("elasticsearch://ann:hunter2@db/a/b", "index"),
        ("opensearch://ann:hunter2@db/pages?txt=body", "txt"),
        ("opensearch://ann:hunter2@db/pages?scheme=ftp", "scheme"),
    ],
)
def test_wrong_elastic_address(text, named):
    with pytest.raises(InputError, match=named) as caught:
        parse_elastic(text, {})
    assert "hunter2" not in str(caught.value)
