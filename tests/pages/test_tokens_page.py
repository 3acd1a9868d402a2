"""The Tokens page: tables, proposals, look-ups, hubness, shared pairs, corrections; and what the others say of them."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from page_words import labelled, press, turn_to, words

from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots
from core.store.projects.embedding_library import add_embedding, read_embeddings
from core.store.projects.project_commands import create_project, list_projects, read_log
from core.store.tokens.areas import add_areas, add_tokens, origins_of, read_areas
from core.tokens.files import AreaTokens
from core.views import tokens

SECOND = Path(__file__).resolve().parents[1] / "cases" / "second"
LIST = "CSV, TSV or Excel with the columns area and token, or a list of one token per line"
MARKET = AreaTokens("Market", ("sales", "marketing", "Retail", "stock market"))
SHOP = AreaTokens("Shop <b>*1*</b>", ("sales", "marketing", "fire 🔥", "$x$"))


@pytest.fixture
def project(demo) -> str:
    """A project with two areas and the demo's embedding."""
    project_id = create_project(demo, "Words", kind="trial", seed=3)
    add_embedding(demo, project_id, read_embeddings(demo, "demo")[0].id)
    add_areas(demo, project_id, [MARKET, SHOP])
    return project_id


def test_what_is_odd_about_tokens_is_told(demo, project, visit):
    said = words(visit("tokens", project))
    assert "1 pair of tokens in more than one area: such a pair is an item of its own in each." in said
    assert "1 token with characters that Mechanical Turk refuses as they are: fire 🔥." in said
    assert "has 4 of 8 tokens." in said


def test_many_remarks_on_a_list_stand_in_one_box(demo, project, visit):
    app = visit("tokens", project)
    labelled(app.text_input, "Area").set_value("Sea")
    labelled(app.text_area, "Tokens, one per line").set_value("ship\nboat\nkeel\n" + "ship\n" * 25)
    press(app, "Add area")
    (box,) = app.main.warning
    said = box.value.replace("\\", "")
    assert said.startswith("25 remarks on what was read.\n\n- row 4: token is in Sea already (row 1)")
    assert said.count("\n- ") == 21
    assert said.endswith("- and 5 more")
    assert [box.value.replace("\\", "") for box in app.main.success] == ["Saved: Sea."]


def test_tokens_that_hardly_differ_are_told_until_they_are_left_out(demo, project, visit):
    add_areas(demo, project, [AreaTokens("Pots", ("teapot", "Teapot", "kettle"))])
    app = visit("tokens", project)
    assert "1 pair of tokens that hardly differ: teapot – Teapot (Pots)." in words(app)
    press(app, "Leave out 1 proposed pair")
    assert "that hardly differ:" not in words(app)


def test_fixed_lists_show_no_empty_table_of_pairs_left_out(demo, visit):
    app = visit("tokens", "demo")
    assert "Pairs to leave out" not in words(app)
    assert "Why they are missing: not in the vocabulary." in words(app)  # of all, so that the table has no column of it
    assert ["token", "area", "near"] in [list(table.proto.column_order) for table in app.dataframe]


def test_tables_of_one_area_and_of_all_open(demo, project, visit):
    app = visit("tokens", project)
    labelled(app.button_group, "Edit as").set_value("Table").run()
    assert not app.exception
    assert labelled(app.selectbox, "Area").value == ""
    labelled(app.selectbox, "Area").select(SHOP.name).run()
    assert not app.exception
    assert labelled(app.button, "Save the table").disabled


def test_look_ups_are_chosen_for_an_embedding_and_hold_on_every_page(demo, project, visit):
    app = visit("embeddings", project)
    assert "Tokens are looked up in their own case only" in words(app)
    labelled(app.toggle, "Also try lower case").set_value(True)
    labelled(app.radio, "Tokens of several words").set_value("mean of parts")
    press(app, "Apply")
    assert "looks tokens up this way from now on" in words(app)
    assert read_log(demo, project, 1)[0]["action"] == "set look-up"
    said = words(visit("tokens", project))
    assert "has 6 of 8 tokens." in said
    assert "also tried in lower case; tokens of several words: the mean of their words' vectors." in said
    found = tokens.load(demo, project).coverage[0].respelled
    assert found["found_as"].tolist() == ["retail", "stock + market"]


def test_missing_tokens_are_found_by_one_press_and_back_by_another(demo, project, visit):
    app = visit("tokens", project)
    said = words(app)
    assert "has 4 of 8 tokens." in said
    assert "It would find 1 token in" in said  # retail, in lower case
    press(app, "Also try lower case")
    assert not app.exception
    assert "Applied to" in words(app)
    assert "has 5 of 8 tokens." in words(app)
    press(app, "Take the mean of their words")
    said = words(app)
    assert "has 6 of 8 tokens." in said
    assert "The mean of their words stands for tokens: 1 token in" in said
    for button in [button for button in app.button if button.label == "Undo"][:1]:
        button.click().run()
    assert "has 5 of 8 tokens." in words(app)
    assert "Tokens are looked up as before." in words(app)


def test_lines_with_commas_are_asked_about_before_they_are_saved(demo, project, visit):
    app = visit("tokens", project)
    labelled(app.text_input, "Area").set_value("Kitchen")
    labelled(app.text_area, "Tokens, one per line").set_value("salt, pepper\nspoon").run()
    assert "1 line holds a comma or a semicolon: “salt, pepper”. As it is, it is one token." in words(app)
    labelled(app.toggle, "Split them into 2 tokens").set_value(True).run()
    press(app, "Add area")
    assert saved(demo, project) == {"Kitchen": "salt, pepper, spoon"}
    assert [area.tokens for area in read_areas(demo, project) if area.name == "Kitchen"] == [
        ("salt", "pepper", "spoon")
    ]


def test_near_tokens_are_proposed_ticked_added_and_marked(demo, project, visit):
    app = visit("tokens", project)
    press(app, "Propose tokens")
    boxes = [box for box in app.checkbox if "(0." in box.label]
    assert len(boxes) == 20
    press(app, "Add the ticked tokens")
    assert "No token is ticked." in words(app)
    chosen = [box.label.split(" (")[0] for box in boxes[:2]]
    for box in boxes[:2]:
        [again] = [other for other in app.checkbox if other.label == box.label]
        again.check()
    press(app, "Add the ticked tokens")
    assert "2 tokens added to Market, marked as proposed by" in words(app)
    assert read_areas(demo, project)[0].tokens == (*MARKET.tokens, *chosen)
    with demo.read() as conn:
        assert {token for _, token in origins_of(conn, project)} == set(chosen)
    assert "2 tokens proposed by an embedding:" in words(app)
    assert not [box for box in app.checkbox if "(0." in box.label and box.label.split(" (")[0] in chosen]


@pytest.mark.release
def test_the_evaluation_warns_of_tokens_that_the_embedding_proposed(demo, visit):
    assert "proposed" not in words(visit("evaluate", "demo"))
    (embedding,) = read_embeddings(demo, "demo")
    with demo.write() as conn:  # as if some of the demo's tokens had been proposed before ballot 1
        some = sa.update(t.token).where(t.token.c.text.in_(["sales", "software"]))
        conn.execute(some.values(origin=f"neighbour:{embedding.id}"))
        conn.exec_driver_sql("UPDATE project SET revision = revision + 1 WHERE id = 'demo'")
    said = words(turn_to(visit("evaluate", "demo"), "All figures"))
    assert "proposed 2 tokens of this dataset, which favours it." in said
    assert "Without the tokens that an embedding proposed" in said
    assert '"tokens_proposed_by"' in visit("export", "demo").code[0].value


def test_hubness_is_counted_on_request(demo, project, visit):
    app = visit("tokens", project)
    assert "Skewness" not in words(app)
    press(app, "Count the neighbours")
    assert "Skewness of N_k:" in words(app)
    assert "over 2 tokens and 2,000 words of GloVe" in words(app)


def test_a_pair_of_two_areas_is_kept_in_the_first_by_choice(demo, project, visit):
    app = visit("tokens", project)
    assert tokens.load(demo, project).n_items == 12
    labelled(app.toggle, "Keep a pair in the first of its areas only").set_value(True).run()
    press(app, "Rebuild the items")
    assert tokens.load(demo, project).n_items == 11
    assert "such a pair stays in the first of them only" in words(app)


def test_a_spelling_is_corrected_after_ballot_1(demo, visit):
    app = visit("tokens", "demo")
    area = read_areas(demo, "demo")[0]
    assert labelled(app.selectbox, "Token").value == area.tokens[0]
    labelled(app.text_input, "Its correct spelling").set_value(f" {area.tokens[0]}s ")
    press(app, "Correct it")
    assert f"{area.tokens[0]} is spelled {area.tokens[0]}s now." in words(app)
    assert read_areas(demo, "demo")[0].tokens == (f"{area.tokens[0]}s", *area.tokens[1:])
    labelled(app.text_input, "Its correct spelling").set_value(area.tokens[1])
    press(app, "Correct it")
    assert "has a token of that spelling already" in words(app)
    assert not app.exception


def test_anything_else_is_changed_in_a_copy_without_ballots(demo, visit):
    app = visit("tokens", "demo")
    labelled(app.text_input, "Name of the copy").set_value("New lists")
    press(app, "Make a copy without ballots")
    made = next(project for project in list_projects(demo) if project.name == "New lists")
    assert app.query_params["project"] == made.id
    assert "New lists has the areas and the plan of Demo: jobs and skills, and no ballots." in words(app)
    assert read_areas(demo, made.id) == read_areas(demo, "demo")
    assert read_ballots(demo, made.id) == []
    app = visit("tokens", made.id)
    assert labelled(app.button, "Yes, delete it")


def test_proposed_tokens_are_counted_by_area(demo, project, visit):
    (embedding,) = read_embeddings(demo, project)
    add_tokens(demo, project, SHOP, ["price"], embedding_id=embedding.id)
    app = visit("tokens", project)
    assert "1 token proposed by an embedding:" in words(app)
    assert app.dataframe[0].value["proposed"].tolist() == [0, 1]


def upload(app, name: str, data: bytes | None = None):
    """Put a file, one of the cases unless its bytes are given, into the box for lists."""
    data = (SECOND / name).read_bytes() if data is None else data
    return labelled(app.file_uploader, LIST).set_value([(name, data, "text/plain")]).run()


def shown(app) -> dict[str, str]:
    """The areas that a page says will be saved, with their first tokens."""
    (table,) = [frame.value for frame in app.dataframe if list(frame.value) == ["area", "tokens", "pairs", "first"]]
    return dict(zip(table["area"], table["first"], strict=True))


def saved(demo, project) -> dict[str, str]:
    return {area.name: ", ".join(area.tokens) for area in read_areas(demo, project) if area not in (MARKET, SHOP)}


def test_the_areas_of_a_file_are_shown_and_saved_so(demo, project, visit):
    app = upload(visit("tokens", project), "96-comma-in-a-line.txt")
    assert shown(app) == {"96-comma-in-a-line": "anvil, rock, paper, barge"}
    press(app, "Add these areas")
    assert not app.exception
    assert saved(demo, project) == {"96-comma-in-a-line": "anvil, rock, paper, barge"}


def test_of_two_token_columns_one_is_chosen_before_anything_is_saved(demo, project, visit):
    app = upload(visit("tokens", project), "84b-two-token-columns.csv")
    assert "Several columns have one name: 'token' (column 2) and 'token' (column 3)." in words(app)
    assert labelled(app.selectbox, "Token column").value is None
    assert labelled(app.button, "Add these areas").disabled
    labelled(app.selectbox, "Token column").set_value(2).run()
    assert shown(app) == {"a": "barge, dune"}
    press(app, "Add these areas")
    assert saved(demo, project) == {"a": "barge, dune"}


def test_the_encoding_and_the_layout_of_a_list_are_chosen(demo, project, visit):
    app = upload(visit("tokens", project), "107-gbk.txt")
    assert "choose another encoding" in words(app)
    labelled(app.selectbox, "Encoding").set_value("gb18030").run()
    assert shown(app) == {"107-gbk": "铁砧, 驳船, 蜡烛"}
    assert "remark" not in words(app)
    press(app, "Add these areas")
    assert saved(demo, project) == {"107-gbk": "铁砧, 驳船, 蜡烛"}
    app = upload(app, "pairs.txt", b"rock, paper\nsalt, pepper\nfire, water\n")
    assert len(shown(app)) > 0
    labelled(app.selectbox, "Layout").set_value("lines").run()
    assert shown(app) == {"pairs": "rock, paper, salt, pepper, fire, water"}
    assert "Token column" not in [box.label for box in app.selectbox]


def test_what_is_odd_about_a_list_is_told_before_it_is_saved(demo, project, visit):
    app = upload(visit("tokens", project), "103-areas-by-case.csv")
    said = words(app)
    assert "3 remarks on what was read." in said
    assert "row 4: the area's name differs from 'Birds' (row 2) in case or spaces only; they are two areas." in said
    assert saved(demo, project) == {}
    press(app, "Add these areas")
    assert saved(demo, project) == {"Birds": "Robin, robin", "birds": "wren, finch"}
    assert "Names of areas that differ in case or spaces only: Birds, birds." in words(app)


def test_a_list_that_is_refused_says_why_and_saves_nothing(demo, project, visit):
    app = upload(visit("tokens", project), "91b-escaped-inside.xlsx")
    assert "no token or area may hold a tab or a line break" in words(app)
    assert "Add these areas" not in [button.label for button in app.button]


def test_the_encoding_of_a_frequency_list_is_chosen_and_holds(demo, project, visit):
    app = visit("tokens", project)
    data = "word,count\nsales,30\n铁砧,10\n".encode("gbk")
    labelled(app.file_uploader, "CSV or TSV of words and counts").set_value([("c.csv", data, "text/csv")]).run()
    assert "铁砧 10" not in words(app)
    labelled(app.selectbox, "Encoding").set_value("gb18030").run()
    assert "2 words, 20 on average: sales 30, 铁砧 10" in words(app)
    press(app, "Use this list")
    assert not app.exception
    found = tokens.load(demo, project).rare
    assert found is not None
    assert found.notes == ("the least frequency is 10: rarer words seem to have been left out, which raises the mean",)
    assert read_log(demo, project, 1)[0]["detail"]["encoding"] == "gb18030"
