"""The examples in the docstrings of ``text`` and ``claims`` are right."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import suffice.claims
import suffice.text

MODULES = [
    found.name
    for package in (suffice.text, suffice.claims)
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0
