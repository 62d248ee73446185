"""Canonical URLs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.search.urls import canonicalize_url


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.org", "https://example.org"),
        ("https://example.org/", "https://example.org"),
        ("HTTPS://Example.ORG/Path/", "https://example.org/Path"),
        ("http://example.org:80/a", "http://example.org/a"),
        ("https://example.org:443/a", "https://example.org/a"),
        ("https://example.org:80/a", "https://example.org:80/a"),
        ("https://example.org./a", "https://example.org/a"),
        ("https://example.org/a#part", "https://example.org/a"),
        ("https://example.org/a?", "https://example.org/a"),
        ("https://example.org/a?utm_source=x&UTM_medium=y&fbclid=z", "https://example.org/a"),
        ("https://example.org/a?b=1&gclid=2&c=3", "https://example.org/a?b=1&c=3"),
        ("https://example.org/a?utmost=1", "https://example.org/a?utmost=1"),
        ("https://example.org/a?id=2&id=1", "https://example.org/a?id=2&id=1"),
        ("https://user:word@example.org/a", "https://example.org/a"),
        ("https://[2001:DB8::1]:443/a", "https://[2001:db8::1]/a"),
        ("https://example.org/%C3%A4?q=%20", "https://example.org/%C3%A4?q=%20"),
    ],
)
def test_urls_of_the_same_page_are_equal(url: str, expected: str) -> None:
    assert canonicalize_url(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org",
        "/a",
        "ftp://example.org/a",
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "https://",
        "https:///a",
        "https://example.org:port/",
        "https://example.org:99999/",
        "https://[::1",
        "https://exam ple.org/",
        "https://example.org/a\nb",
        "https://example.org/" + "a" * 3_000,
    ],
)
def test_other_urls_give_none(url: str) -> None:
    assert canonicalize_url(url) is None


@given(
    st.from_regex(
        r"https?://[a-zA-Z.]{1,9}(:[0-9]{1,4})?(/[a-z/]{0,9})?(\?[a-z=&_]{0,12})?(#[a-z]{0,3})?", fullmatch=True
    )
)
def test_canonical_url_is_a_fixed_point(url: str) -> None:
    once = canonicalize_url(url)
    assert once is None or canonicalize_url(once) == once
