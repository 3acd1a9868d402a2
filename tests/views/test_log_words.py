"""The log in words: every command has a sentence, and nothing is shown as code."""

from __future__ import annotations

import re

from campaigns import AREAS, answer_batch, draw_batch, make_project

from core.store import chain
from core.store.ballots.closing import close_ballot, reopen_ballot
from core.store.ballots.drawing import discard_ballot
from core.store.projects.archive import archive_project, duplicate_project, restore_project
from core.store.projects.project_commands import change_project, read_log
from core.store.tokens.areas import change_area, delete_area
from core.store.votes.intake import accept_upload
from core.store.votes.uploads import withdraw_upload
from core.views.log import SENTENCES, details, log_table, newest_head, what


def a_busy_project(store):
    project_id = make_project(store)
    change_project(store, project_id, name="New *name*", notion="similarity", expected_revision=None)
    change_area(store, project_id, AREAS[1], ("hammer", "saw", "file"))
    draw_batch(store, project_id)
    discard_ballot(store, project_id)
    results = answer_batch(draw_batch(store, project_id))
    gone = accept_upload(store, project_id, results, "first.csv")
    withdraw_upload(store, project_id, gone.upload_id)
    accept_upload(store, project_id, results, "again.csv")
    close_ballot(store, project_id)
    reopen_ballot(store, project_id)
    return project_id


def test_a_log_reads_as_sentences(store):
    project_id = a_busy_project(store)
    log = log_table(read_log(store, project_id))
    said = list(log["what"])[::-1]
    assert said == [
        "Made the project Test",
        "Added token lists",
        "Saved the plan",
        "Changed the settings: name New *name*, notion similarity",
        "Changed the tokens of Tools",
        "Drew ballot 1",
        "Discarded the draw of ballot 1",
        "Drew ballot 1",
        "Accepted votes for ballot 1 from first.csv",
        "Withdrew first.csv from ballot 1",
        "Accepted votes for ballot 1 from again.csv",
        "Closed ballot 1",
        "Reopened ballot 1",
    ]
    told = dict(zip(log["what"], log["details"], strict=True))
    assert told["Added token lists"] == "areas: Animals (6 tokens), Tools (4 tokens)"
    assert told["Withdrew first.csv from ballot 1"] == "36 answers"
    assert told["Changed the tokens of Tools"] == "tokens: hammer, saw, file; before: hammer, saw, 007, NA"
    assert not log["details"].str.contains(r"[{}\[\]']", regex=True).any()
    assert log["time (UTC)"].str.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d").all()


def test_copies_and_projects_put_away(store):
    project_id = make_project(store)
    copy = duplicate_project(store, project_id, "Copy")
    archive_project(store, copy)
    restore_project(store, copy)
    said = list(log_table(read_log(store, copy))["what"])
    assert said[:2] == ["Restored the project", "Archived the project"]
    assert not re.search("[{}]", " ".join(said))


def test_numbers_inside_lists_and_groups_are_written_as_people_do():
    detail = {
        "appearances": [20, 2.5, 1200],
        "checks": {"repeats": 1200, "share": 0.05, "excluded": True},
        "seed": 1234,
    }
    assert details("save plan", detail) == (
        "appearances: 20, 2.5, 1,200; checks: repeats 1,200, share 0.05, excluded: yes; seed 1234"
    )


def test_an_entry_that_lacks_its_details_is_named_all_the_same():
    for action in SENTENCES:
        assert what(action, {}), action
        assert details(action, {}) == "", action


def test_every_command_of_the_store_has_a_sentence():
    from pathlib import Path

    import core.store

    found = set()
    store = Path(core.store.__file__).parent
    for path in [*store.rglob("*.py"), store.parent / "worker.py"]:
        found |= set(
            re.findall(r'(?:command|_rewriting)\(\s*[\w.]+,\s*[\w.]+,\s*"([a-z -]+)"', path.read_text(encoding="utf-8"))
        )
    assert len(found) > 15
    assert found <= set(SENTENCES)


def test_an_area_that_is_deleted(store):
    project_id = make_project(store, plan=None)
    delete_area(store, project_id, AREAS[1])
    assert log_table(read_log(store, project_id))["what"][0] == "Deleted the area Tools"


def test_the_newest_head_is_the_chains_and_shown_short(store):
    project_id = make_project(store)
    found = newest_head(store, project_id)
    with store.read() as conn:
        assert (found.entry, found.head) == chain.newest_head(conn, project_id)
    assert f"entry {found.entry:,}: `{found.head[:12]}…`" in found.said
    before = found.head
    change_project(store, project_id, name="Another", notion="relatedness", expected_revision=None)
    assert newest_head(store, project_id).head != before
