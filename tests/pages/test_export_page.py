"""The export page: nothing is made before it is asked for; the owner's words; versions."""

from __future__ import annotations

import pytest

from core.commands import executor, publishing
from core.dataset.files import read_dataset
from core.store.projects.releases import read_fields, read_releases, release_bytes
from core.store.scores.project_dataset import read_project_dataset as read_stored
from core.views import export


def button(app, label):
    return next(found for found in app.button if found.label == label)


def labels(app) -> dict[str, bool]:
    return {found.label: found.disabled for found in app.get("download_button")}


def test_the_zip_is_made_when_it_is_asked_for(demo, visit, monkeypatch):
    made = []
    monkeypatch.setattr(publishing, "write_published", lambda *a, **k: made.append(1) or b"PK")
    app = visit("export", "demo")
    app.run()
    assert not app.exception
    assert made == []
    assert not any(label.startswith("Download the dataset") for label in labels(app))


@pytest.fixture
def few(demo, monkeypatch):
    """The demo, whose votes count as few enough for its files to be made at once."""
    monkeypatch.setattr(executor, "AT_ONCE", 1e6)
    return demo


def test_it_is_there_after_one_press(few, visit):
    app = visit("export", "demo")
    button(app, "Make the dataset to publish (zip)").click().run()
    assert not app.exception
    shown = labels(app)
    assert any(label.startswith("Download the dataset (zip") for label in shown)
    assert {"Datasheet (page)", "Datasheet (Markdown)"} <= set(shown)
    assert not [found for found in app.button if found.label.startswith("Make the dataset")]


def test_every_format_writes_the_demo(demo):
    view = export.load(demo, "demo")
    assert view.problems == {}
    stored = read_stored(demo, "demo")
    for found in export.FORMATS:
        data = found.make(view.dataset)
        assert data
        if found.ending in (".csv", ".tsv", ".parquet"):
            assert read_dataset(data)["score"].tolist() == stored["score"].tolist()


def test_single_formats_stand_in_an_expander(demo, visit):
    app = visit("export", "demo")
    assert {found.label for found in export.FORMATS} <= set(labels(app))
    box = next(found for found in app.expander if found.label == "Single files and other formats")
    assert len(box.get("download_button")) == len(export.FORMATS)


def test_the_owners_words_are_saved(demo, visit):
    app = visit("export", "demo")
    next(found for found in app.text_input if found.label == "Title").set_value("Jobs *and* skills")
    next(found for found in app.text_input if found.label == "Language of the tokens").set_value("English")
    button(app, "Save the datasheet").click().run()
    assert "language tag" in app.error[0].value.replace("\\", "")
    assert read_fields(demo, "demo").title == ""
    next(found for found in app.text_input if found.label == "Language of the tokens").set_value("en")
    next(found for found in app.selectbox if found.label == "Licence").set_value("cc-by-4.0")
    button(app, "Save the datasheet").click().run()
    assert not app.error
    kept = read_fields(demo, "demo")
    assert (kept.title, kept.language, kept.licence) == ("Jobs *and* skills", "en", "cc-by-4.0")


def test_a_version_is_released_at_once_listed_and_compared(few, visit, started):
    app = visit("export", "demo")
    next(found for found in app.text_input if found.label == "Version").set_value("1 0")
    button(app, "Release").click().run()
    assert "A version's name" in app.error[0].value.replace("\\", "")
    next(found for found in app.text_input if found.label == "Version").set_value("1.0")
    button(app, "Release").click().run()
    assert not app.error
    assert started == []  # few votes need no job
    (kept,) = read_releases(few, "demo")
    assert release_bytes(few, kept)[:2] == b"PK"
    assert "Version 1.0" in labels(app)
    app.toggle[0].set_value(True).run()
    assert not app.exception
    assert any("same items with the same scores" in found.value for found in app.markdown)
