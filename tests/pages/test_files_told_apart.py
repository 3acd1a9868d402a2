"""A file in the wrong box: what it is and where it belongs stands in the box's place, and nothing is made of it."""

from __future__ import annotations

import pytest
from campaigns import answer_batch, draw_batch, make_project

from core.store.tokens.areas import read_areas
from tests.page_words import labelled, words

RATINGS = b"word1,word2,voter,rating\nsea,ship,anna,3\nsea,boat,anna,1\n"
LIST = "CSV, TSV or Excel with the columns area and token, or a list of one token per line"
COLLECT = "Result files of Turkle, Mechanical Turk's format, Label Studio, Potato, Toloka, Appen, or any table"
TOKENS = b"area,token\nsea,ship\nsea,boat\n"


@pytest.fixture
def votes(demo) -> bytes:
    """Results of another project of the workspace."""
    return answer_batch(draw_batch(demo, make_project(demo, name="Sea and law")))


def test_results_in_tokens_are_refused_and_not_made_items(demo, visit, votes):
    project = make_project(demo, name="Own")
    before = read_areas(demo, project)
    app = visit("tokens", project)
    labelled(app.file_uploader, LIST).set_value([("votes.csv", votes, "text/csv")]).run()
    assert not app.exception
    assert "votes.csv is a file of results with votes, not a token list." in words(app)
    assert "Add these areas" not in [button.label for button in app.button]
    assert read_areas(demo, project) == before
    labelled(app.file_uploader, LIST).set_value([("own.csv", TOKENS, "text/csv")]).run()
    assert labelled(app.button, "Add these areas")


def test_results_of_another_project_are_named_on_collect(demo, visit, votes):
    project = make_project(demo, name="Own")
    own = answer_batch(draw_batch(demo, project))
    app = visit("collect", project)
    labelled(app.file_uploader, COLLECT).set_value([("votes.csv", votes, "text/csv")]).run()
    assert "votes.csv holds results of the project “Sea and law”, not of this one." in words(app)
    assert "Accept these votes" not in [button.label for button in app.button]
    labelled(app.file_uploader, COLLECT).set_value([("own.csv", own, "text/csv")]).run()
    assert labelled(app.button, "Accept these votes")


# The kind of question whose files are read in a box, and the tab of the page.
READ = {
    "File of ratings": ("rating", "A file of ratings"),
    "Gold ratings": ("rating", "A file of ratings"),
    "File of judgements": ("best-worst", "A file of judgements"),
    "File of target groups": ("order", "Files of groups and orders"),
    "File of orders": ("order", "Files of groups and orders"),
}


BOXES = [
    ("embeddings", "Embedding file", RATINGS, "is a file of ratings, not an embedding."),
    ("tokens", "CSV or TSV of words and counts", RATINGS, "is a file of ratings, not a list of words with"),
    ("scores", "File of ratings", TOKENS, "is a token list, not a file of ratings."),
    ("scores", "File of judgements", TOKENS, "is a token list, not a file of best–worst judgements."),
    ("scores", "File of target groups", RATINGS, "is a file of ratings, not a file of target groups."),
    ("scores", "File of orders", RATINGS, "is a file of ratings, not a file of people's orders."),
    ("scores", "Gold ratings", b"\x89PNG\r\n", "is a picture, not a file of ratings. Choose a table"),
    ("project", "Project file (zip)", b"%PDF-1.7", "is a PDF document, not a project file of Runoff. Choose the"),
    ("project", "Result files of the campaign", TOKENS, "is a token list, not a file of results with votes."),
]
# A page each; the others wait for a release.
EVERY_CHANGE = ("Embedding file", "File of ratings", "Result files of the campaign")


@pytest.mark.parametrize(
    ("page", "box", "data", "said"),
    [pytest.param(*one, marks=() if one[1] in EVERY_CHANGE else pytest.mark.release) for one in BOXES],
)
def test_each_box_says_what_it_was_given(demo, visit, page, box, data, said):
    app = visit(page, "demo")
    if box in READ:
        kind, tab = READ[box]
        app.query_params["kind"] = kind
        app.session_state[f"scores-tab-demo-{kind}"] = tab
        app.run()
    if box == "Result files of the campaign":
        next(toggle for toggle in app.toggle if toggle.label == "From archived results").set_value(True).run()
    if box == "Gold ratings":  # the box is below the figures of a file of ratings
        labelled(app.file_uploader, "File of ratings").set_value([("r.csv", RATINGS, "text/csv")]).run()
    labelled(app.file_uploader, box).set_value([("file.csv", data, "text/csv")]).run()
    assert not app.exception
    assert f"file.csv {said}" in words(app)
