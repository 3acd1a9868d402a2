"""What a box shows is what is acted on, in a real browser: of equal names, and where names change meanwhile."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa
from campaigns import AREAS, answer_batch, make_project
from playwright.sync_api import expect
from rounds_of_people import SMALL, answer_round, batch_of, round_id

from core.questions.comparison_page import write_batch
from core.questions.voting_settings import VotingSettings
from core.store import Store, open_store
from core.store import schema as t
from core.store.ballots.ballot_rows import read_comparisons
from core.store.ballots.drawing import draw_next_ballot, draw_round
from core.store.projects.project_commands import create_project
from core.store.tokens.areas import add_areas
from core.store.votes.intake import accept_upload
from core.store.votes.uploads import read_uploads, withdraw_upload
from core.store.voting.owner_commands import invite, open_voting, read_invitations, read_link
from core.tokens.files import AreaTokens
from core.voting import api
from tests.browser.server import Server
from tests.browser.visitor import Visitor
from tests.rounds_of_people import RATING, accept_answers, close_round, read_rounds

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser"), pytest.mark.release]


def vote(store: Store, project_id: str, who: api.Visitor, name: str = "") -> None:
    """Somebody comes to the voting page and gives one vote."""
    code = read_link(store, project_id)
    view = api.begin(store, code, "a visit", api.look(store, code, "", "a visit", who).form, who, name=name)
    api.vote(store, code, view.cookie, view.form, task=1, n=1, choice="left")


def withdrawn(store: Store) -> list[tuple[str, str]]:
    """Whose votes are withdrawn."""
    query = sa.select(t.voter.c.external_id, t.voter.c.platform).select_from(t.voter).join(t.assignment)
    with store.read() as conn:
        rows = conn.execute(query.join(t.judgement).where(t.judgement.c.status == "withdrawn").distinct()).all()
    return [(str(name), str(platform)) for name, platform in rows]


def test_equal_names_and_names_that_change(own_server: Server, visit: Callable[..., Visitor]) -> None:
    store = open_store(own_server.workspace)
    project_id = make_project(store)
    batch = write_batch(read_comparisons(store, project_id, draw_next_ballot(store, project_id)))
    open_voting(store, project_id, VotingSettings())
    for name in ("Anna", "Ben"):
        vote(store, project_id, api.Visitor(), name)
    invite(store, project_id, ["Anna"])
    ((_, token),) = read_invitations(store, project_id)
    own_server.start()
    visitor = visit(own_server)
    visitor.open(f"collect?project={project_id}")

    # A second Anna comes while the first is chosen in a tab.
    visitor.unfold("Voters of the page")
    visitor.pick("A voter withdraws consent", "Anna")
    vote(store, project_id, api.Visitor(token=token))
    visitor.press("Withdraw this voter's votes")
    visitor.says("1 answer marked as withdrawn")
    assert withdrawn(store) == [("Anna", "runoff")]

    # Files of one name, taken within a minute; the one that is chosen is withdrawn elsewhere meanwhile.
    for voter in ("W1", "W2", "W3"):
        accept_upload(store, project_id, answer_batch(batch, voters=(voter,), tag=voter), "results.csv")
    with store.engine.begin() as conn:
        ids = list(conn.execute(sa.select(t.upload.c.id).order_by(t.upload.c.id)).scalars())
        at = {id_: f"2026-01-05T10:00:0{n}.000000+00:00" for n, id_ in enumerate(ids)}
        for id_ in ids:
            conn.execute(sa.update(t.upload).where(t.upload.c.id == id_).values(accepted_at=at[id_]))
    visitor.open(f"collect?project={project_id}")
    named = [f"results.csv, 2026-01-05 10:00 UTC (10:00:0{n})" for n in range(3)]
    visitor.unfold("Uploads (3)")
    visitor.pick("Withdraw an upload", named[1], in_form=True)
    visitor.press("Withdraw it")
    visitor.says("count no more")
    left = [upload.id for upload in read_uploads(store, project_id) if not upload.withdrawn_at]
    assert sorted(left) == [ids[0], ids[2]]
    visitor.pick("Withdraw an upload", named[0], in_form=True)
    withdraw_upload(store, project_id, ids[0])
    visitor.press("Withdraw it")
    visitor.says("is not there any more, so nothing was done")
    left = [upload.id for upload in read_uploads(store, project_id) if not upload.withdrawn_at]
    assert left == [ids[2]]

    # What is chosen is called anew with every answer that comes in.
    ratings = create_project(store, "Rounds", seed=3)
    add_areas(store, ratings, AREAS)
    draw_round(store, ratings, SMALL[RATING])
    data = answer_round(batch_of(store, ratings), RATING, per_task=3)
    accept_answers(store, ratings, data, "all.csv", ballot_id=round_id(store, ratings))
    close_round(store, ratings, 1)
    draw_round(store, ratings, SMALL[RATING])
    visitor.open(f"collect?project={ratings}")
    expect(visitor.box("Round")).to_have_value("Round 2, ratings (open, 0%)")
    newest = read_rounds(store, ratings)[-1].id
    for voter, percent, way in (("W1", 33, "Files"), ("W2", 67, "Voting page")):
        data = answer_round(batch_of(store, ratings, 2), RATING, voters=(voter,), tag=voter)
        accept_answers(store, ratings, data, f"{voter}.csv", ballot_id=newest)
        visitor.check(way)
        expect(visitor.box("Round")).to_have_value(f"Round 2, ratings (open, {percent}%)")

    # An area called as all are.
    words = create_project(store, "Words", seed=3)
    add_areas(store, words, [AreaTokens("Tools", ("saw", "axe")), AreaTokens("All areas", ("cat", "dog"))])
    visitor.open(f"tokens?project={words}")
    visitor.choose("Table")
    visitor.pick("Area", "All areas (an area)")
    assert [cells[-1] for cells in visitor.cells("Areas and tokens to edit")][:2] == ["cat", "dog"]
    visitor.check_no_error()
    store.engine.dispose()
