"""What an upload and its withdrawal changed: votes, voters, moves in the top of the ranking."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from campaigns import PLAN, answer_batch, draw_batch, make_project
from hypothesis import given, settings
from hypothesis import strategies as st

from core.commands.votes import top_sentence, voters_text, votes_text
from core.metrics import average_ranks
from core.questions.comparison_page import write_batch
from core.scores import score_campaign
from core.store.ballots.ballot_rows import read_ballots, read_comparisons
from core.store.ballots.closing import close_ballot
from core.store.ballots.pilots import draw_pilot
from core.store.projects.archive import export_project, import_project
from core.store.projects.plans import PILOT
from core.store.scores.provisional import provisional_ranking_of
from core.store.tokens.areas import n_items_of, read_items
from core.store.votes.intake import accept_upload
from core.store.votes.tallies import ballot_votes
from core.store.votes.uploads import read_uploads, withdraw_upload
from core.votes.reasons import Move, UploadEffect, compare_tops


def parts(results: bytes, *sizes: int) -> list[bytes]:
    """A result file in parts of so many rows, each with the header; the last part has the rest."""
    header, *rows = results.splitlines(keepends=True)
    files, start = [], 0
    for size in (*sizes, len(rows) - sum(sizes)):
        files.append(header + b"".join(rows[start : start + size]))
        start += size
    return files


def provisional(store, project_id):
    """Scores of the newest ballot's items if it were closed now, from its votes; the tokens of each item."""
    with store.read() as conn:
        votes = [ballot_votes(conn, ballot.id) for ballot in read_ballots(store, project_id)]
        scored = score_campaign(votes, n_items_of(conn, project_id))[-1]
    items = read_items(store, project_id).set_index("item").loc[scored.items]
    return list(zip(items["token_a"], items["token_b"], strict=True)), scored.mean


def top_by_hand(pairs, scores):
    """Ranks up to 10 of the items that have a score, by sorting."""
    scored = [(pair, score) for pair, score in zip(pairs, scores, strict=True) if not np.isnan(score)]
    ranks = average_ranks([score for _, score in scored]) if scored else []
    return {pair: rank for (pair, _), rank in zip(scored, ranks, strict=True) if rank <= 10}


def test_a_standing_is_what_closing_now_would_give(store):
    project_id = make_project(store)
    for _ in range(2):
        whole = answer_batch(draw_batch(store, project_id))
        for part in parts(whole, 1, 3):
            accept_upload(store, project_id, part, "part.csv")
            pairs, scores = provisional(store, project_id)
            with store.read() as conn:
                standing = provisional_ranking_of(conn, read_ballots(store, project_id)[-1].id)
            assert standing.pairs == tuple(pairs)
            np.testing.assert_array_equal(standing.scores, scores)
            assert {standing.pairs[place]: rank for place, rank in standing.top.items()} == top_by_hand(pairs, scores)
        close_ballot(store, project_id)


def test_an_upload_says_what_it_changed_and_keeps_it(store):
    project_id = make_project(store)
    first, second = parts(answer_batch(draw_batch(store, project_id), voters=("W1", "W2", "W3")), 2)
    one = accept_upload(store, project_id, first, "one.csv")
    pairs, scores = provisional(store, project_id)
    assert (one.effect.votes, one.effect.new_voters, one.effect.known_voters) == (6, 2, 0)
    assert one.effect.moves == ()
    best = max(score for score in scores if not np.isnan(score))
    assert one.effect.first == pairs[list(scores).index(best)]
    before = top_by_hand(pairs, scores)
    two = accept_upload(store, project_id, second, "two.csv")
    after = top_by_hand(*provisional(store, project_id))
    assert (two.effect.votes, two.effect.new_voters, two.effect.known_voters) == (36, 1, 2)
    assert {move.pair: (move.before, move.after) for move in two.effect.moves} == {
        pair: (before.get(pair), after.get(pair)) for pair in {*before, *after} if before.get(pair) != after.get(pair)
    }
    assert two.effect.moves
    assert [upload.effect for upload in read_uploads(store, project_id)] == [two.effect, one.effect]
    copy = import_project(store, export_project(store, project_id))
    assert [upload.effect for upload in read_uploads(store, copy)] == [two.effect, one.effect]


def test_a_withdrawal_says_what_it_changed(store):
    project_id = make_project(store)
    first, second = parts(answer_batch(draw_batch(store, project_id)), 5)
    accept_upload(store, project_id, first, "one.csv")
    before = top_by_hand(*provisional(store, project_id))
    two = accept_upload(store, project_id, second, "two.csv")
    withdrawn = withdraw_upload(store, project_id, two.upload_id)
    assert (withdrawn.judgements, withdrawn.effect.votes) == (27, -27)
    back = {(move.pair, move.after, move.before) for move in two.effect.moves}
    assert {(move.pair, move.before, move.after) for move in withdrawn.effect.moves} == back
    assert top_by_hand(*provisional(store, project_id)) == before
    kept = read_uploads(store, project_id)[0]
    assert (kept.effect, kept.withdrawal) == (two.effect, withdrawn.effect)


def test_the_last_votes_gone_no_item_is_ranked(store):
    project_id = make_project(store)
    accepted = accept_upload(store, project_id, answer_batch(draw_batch(store, project_id)), "results.csv")
    effect = withdraw_upload(store, project_id, accepted.upload_id).effect
    assert (effect.votes, effect.moves, effect.ended) == (-42, (), True)
    assert top_sentence(effect) == "No item has a rank any more."


def test_after_a_withdrawal_the_others_say_what_they_change_without_it(store):
    """As if the withdrawn file had never come: the same as in a project that never saw it."""
    project_id, other = make_project(store), make_project(store)
    whole = answer_batch(draw_batch(store, project_id))
    first, *later = parts(whole, 4, 6)
    gone = accept_upload(store, project_id, first, "one.csv")
    for number, part in enumerate(later):
        accept_upload(store, project_id, part, f"{number}.csv")
    withdraw_upload(store, project_id, gone.upload_id)
    again = answer_batch(draw_batch(store, other))  # other task ids, and else the same
    for number, part in enumerate(parts(again, 4, 6)[1:]):
        accept_upload(store, other, part, f"{number}.csv")
    effects = [upload.effect for upload in read_uploads(store, project_id) if not upload.withdrawn_at]
    assert effects == [upload.effect for upload in read_uploads(store, other)]


def test_in_a_later_ballot_the_ranking_before_its_votes_is_that_of_the_last(store):
    project_id = make_project(store)
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id)), "one.csv")
    close_ballot(store, project_id)
    batch = draw_batch(store, project_id)
    accepted = accept_upload(store, project_id, answer_batch(batch, voters=("W1", "new")), "two.csv")
    assert accepted.effect.first is None
    assert (accepted.effect.new_voters, accepted.effect.known_voters) == (1, 1)
    with store.read() as conn:
        ballots = read_ballots(store, project_id)
        last, now = (provisional_ranking_of(conn, ballot.id) for ballot in ballots)
    kept = [last.scores[last.pairs.index(pair)] for pair in now.pairs]
    before = top_by_hand(now.pairs, kept)
    after = top_by_hand(now.pairs, now.scores)
    moved = {pair for pair in {*before, *after} if before.get(pair) != after.get(pair)}
    assert {move.pair for move in accepted.effect.moves} == moved


@pytest.mark.release
def test_where_the_ranking_is_not_known_yet_nothing_is_said_to_stay(store):
    """By Runoff's own protocol it follows when the ballot is closed; a pilot ranks nothing."""
    project_id = make_project(store, plan=replace(PLAN, protocol="runoff"))
    one = accept_upload(store, project_id, answer_batch(draw_batch(store, project_id)), "one.csv")
    assert top_sentence(one.effect).startswith("First ranking: ")
    close_ballot(store, project_id)
    two = accept_upload(store, project_id, answer_batch(draw_batch(store, project_id), tag="B"), "two.csv")
    assert top_sentence(two.effect) == "What it changes in the ranking shows when the ballot is closed."
    assert read_uploads(store, project_id)[0].effect == two.effect
    gone = withdraw_upload(store, project_id, two.upload_id)
    assert top_sentence(gone.effect) == "What it changes in the ranking shows when the ballot is closed."


def test_votes_of_a_pilot_change_no_ranking(store):
    project_id = make_project(store)
    draw_pilot(store, project_id, 20)
    batch = write_batch(read_comparisons(store, project_id, PILOT))
    accepted = accept_upload(store, project_id, answer_batch(batch), "pilot.csv")
    assert accepted.effect.votes == 20
    assert top_sentence(accepted.effect) == ""


ranks = st.dictionaries(st.integers(0, 12), st.integers(2, 20).map(lambda n: n / 2), max_size=10)


@settings(deadline=None)
@given(ranks, ranks)
def test_moves_lead_from_one_top_to_the_other(before, after):
    top = dict(before)
    for item, was, now in compare_tops(before, after):
        assert top.pop(item, None) == was != now
        if now is not None:
            top[item] = now
    assert top == after


@pytest.mark.parametrize(
    ("effect", "sentence"),
    [
        (UploadEffect(5, first=("$x$", "*y*")), "First ranking: $x$ – *y* leads."),
        (UploadEffect(0), "The top 10 stays as it was."),
        (UploadEffect(5, ranking="none"), ""),
        (UploadEffect(-5, ended=True), "No item has a rank any more."),
        (
            UploadEffect(
                5,
                moves=(
                    *(Move((name, "z"), rank, rank + 0.5) for rank, name in enumerate("abcd", 1)),
                    Move(("e", "z"), 9.0, None),
                    Move(("f", "z"), None, 10.0),
                ),
            ),
            "Top 10: 4 moved: a – z 1 → 1.5, b – z 2 → 2.5, c – z 3 → 3.5 and 1 more; "
            "entered: f – z (now 10); left: e – z (was 9).",
        ),
    ],
)
def test_sentences(effect, sentence):
    assert top_sentence(effect) == sentence
    assert UploadEffect.from_stored(effect.stored()) == effect


def test_votes_and_voters_in_words():
    assert [votes_text(UploadEffect(n)) for n in (1, -2, 0)] == [
        "1 more vote",
        "2 fewer votes",
        "as many votes as before",
    ]
    assert voters_text(UploadEffect(1, new_voters=1)) == "1 voter, new"
    assert voters_text(UploadEffect(1, known_voters=2)) == "2 voters (known already)"
    assert UploadEffect.from_stored(None) is None
