"""The examples in docstrings are right."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import core

MODULES = [
    module.name
    for module in pkgutil.walk_packages(core.__path__, "core.")
    if ".migrations" not in module.name and not module.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples():
    counts = [doctest.testmod(importlib.import_module(name)).attempted for name in MODULES]
    assert sum(counts) >= 30
