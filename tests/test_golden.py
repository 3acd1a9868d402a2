"""What today's code makes of the same input is what it always made: `tests/golden` keeps it, and says how."""

from __future__ import annotations

import json

import pytest

from tests.golden import make

SLOW = ("runoff",)  # three hundred fits
TOLD = "If this was meant, say why in the commit and run python -m tests.golden.make --write {}"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    found = make.Workspace(tmp_path_factory.mktemp("golden"))
    yield found
    found.store.engine.dispose()


def differences(found, kept, place=""):
    """Where two values differ, with both."""
    if isinstance(found, dict) and isinstance(kept, dict):
        keys = [*kept, *(key for key in found if key not in kept)]
        return [each for key in keys for each in differences(found.get(key, "–"), kept.get(key, "–"), f"{place}/{key}")]
    return [] if found == kept else [f"{place}: {found!r}, kept {kept!r}"]


@pytest.mark.sqlite
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.release) if one in SLOW else one for one in make.PINS]
)
def test_it_is_as_it_was_kept(made, name):
    kept = json.loads((make.FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert differences(json.loads(make.text_of(name, made)), kept) == [], TOLD.format(name)


def test_every_kept_file_is_compared():
    assert {path.stem for path in make.FOLDER.glob("*.json")} == set(make.PINS)


def test_pages_are_compared_by_their_dom():
    assert make.dom("<p class='a' id=b>It&#39;s</p>") == make.dom('<p id="b" class="a">It\'s</p>')
    assert make.dom("<p>a</p>") != make.dom("<p>b</p>")
    assert make.dom("<p><b>a</b></p>") != make.dom("<b><p>a</p></b>")


def test_numbers_are_rounded_and_long_texts_hashed():
    assert make.kept(0.1 + 0.2) == 0.3
    assert make.kept("x,0.30000000000000004,1.5") == "x,0.3,1.5"
    assert make.kept("y" * 500).startswith("sha256:")
    assert make.kept(list(range(200))) != make.kept(list(range(201)))
