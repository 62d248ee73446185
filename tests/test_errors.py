"""Errors never show the password of a URL, whichever part of the program builds the message."""

import pytest

from suffice import errors
from suffice.search.web.provider import get_base_url
from suffice.settings import load

pytestmark = pytest.mark.attack("passwords in addresses")


@pytest.mark.parametrize(
    "url",
    [
        "http://ann:hunter2@example.org/v1",
        "ftp://ann:hunter2@example.org",
        "postgresql://ann:hunter2@db/suffice",
        "https://hunter2@example.org/",
        "http://ann:hunter2%40x@example.org:9/?q={query}",
    ],
)
@pytest.mark.parametrize("kind", [errors.InputError, errors.Unavailable, errors.SearchRefused, errors.ModelError])
def test_passwords_are_hidden(kind: type[errors.SufficeError], url: str) -> None:
    message = str(kind(f"{url} does not answer ({url!r})"))
    assert "hunter2" not in message
    assert "does not answer" in message


def test_messages_about_settings_hide_it_too() -> None:
    config = load({"SEARXNG_URL": "ftp://ann:hunter2@127.0.0.1"})
    with pytest.raises(errors.InputError, match="SEARXNG_URL") as raised:
        get_base_url(config, "SEARXNG_URL")
    assert "hunter2" not in str(raised.value)


def test_addresses_without_a_password_stay() -> None:
    for text in ("http://example.org:8080/a@b", "see mailto: ann@example.org", "https://example.org/?x=a:b@c"):
        assert str(errors.InputError(text)) == text
