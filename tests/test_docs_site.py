"""What the documentation's site does beside MkDocs: links between pages, docstrings as Markdown."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]


def module(name: str) -> ModuleType:
    """A module of docs/, which is no package; what only the site's environment has is stood for by nothing."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize(
    ("page", "written", "shown"),
    [
        ("index.md", "[a](docs/method.md#scores)", "[a](method.md#scores)"),
        ("index.md", "![a](docs/pictures/scores.png)", "![a](pictures/scores.png)"),
        ("index.md", "[a](data/SOURCE.md)", "[a](demo-data.md)"),
        ("architecture.md", "[a](core/metrics.py)", "a"),
        ("guide.md", "[a](../README.md#start)", "[a](index.md#start)"),
        ("howto/lab.md", "[a](../voting.md)", "[a](../voting.md)"),
        ("api/index.md", "[a](../../examples/compare-models.ipynb)", "[a](../examples/compare-models.ipynb)"),
        ("cli.md", "[a](../examples/compare-models.ipynb)", "[a](examples/compare-models.ipynb)"),
        (
            "cli.md",
            "[a](gone.md) [b](https://example.org/x) [c](#plan)",
            "[a](gone.md) [b](https://example.org/x) [c](#plan)",
        ),
        ("demo-data.md", "[a](areas.csv)", "a"),
    ],
)
def test_links_of_the_repository_become_links_of_the_site(page, written, shown):
    assert module("site_hooks").relinked(written, page) == shown


@pytest.mark.parametrize(
    ("html", "n"),
    [
        ('<script src="https://cdn.example.org/a.js"></script>', 1),
        ('<link rel="stylesheet" href="//fonts.example.org/b.css"><img src=http://example.org/c.png>', 2),
        ('<script src="assets/a.js"></script><a href="https://example.org/">out</a><img src="../d.png">', 0),
    ],
)
def test_what_a_page_would_load_from_elsewhere_is_found(html, n):
    assert len(module("site_hooks").from_elsewhere(html)) == n


def test_docstrings_become_markdown(monkeypatch):
    griffe = ModuleType("griffe")
    griffe.Extension = griffe.Object = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "griffe", griffe)
    text = """What it is.

Parameters
----------
x, y : scores of the same items,
    higher is more.
n0 : offset.

Returns a value.

>>> f(
...     1)
[1]

The end."""
    assert (
        module("docstrings").as_markdown(text)
        == """What it is.

**Parameters**

* `x, y`: scores of the same items,
    higher is more.
* `n0`: offset.

Returns a value.

```pycon
>>> f(
...     1)
[1]
```

The end."""
    )
