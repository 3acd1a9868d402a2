"""Which pairs become items, and where token frequencies come from, in the store."""

from __future__ import annotations

import pytest
from campaigns import AREAS, draw_batch, make_project

from core.errors import InputError, StaleError, StoreError
from core.store.projects.project_commands import get_project
from core.store.tokens.areas import ItemRules, add_areas, make_items, read_items, set_item_rules
from core.store.tokens.frequencies import RareTerms, source_of, use_list, use_ranks, use_wordfreq
from core.tokens.files import AreaTokens
from core.views import tokens

LIST = b"word,count\ncat,500\ndog,400\nhorse,30\nmouse,1\nhammer,200\nsaw,9\n"  # mean 190, rare below 19


def pairs_of(items) -> set[tuple[str, str, str]]:
    return set(items[["area", "token_a", "token_b"]].itertuples(index=False, name=None))


def test_excluded_pairs_are_no_items_in_either_order(store):
    project_id = make_project(store, plan=None)
    set_item_rules(store, project_id, ItemRules(excluded=(("Animals", "dog", "cat"), ("Tools", "hammer", "saw"))))
    items = read_items(store, project_id)
    assert len(items) == 19
    assert items["item"].tolist() == list(range(19))
    assert not {("Animals", "cat", "dog"), ("Tools", "hammer", "saw")} & pairs_of(items)


def test_a_sample_follows_from_the_seed_and_leaves_no_token_out(store):
    one, two = make_project(store, plan=None, seed=3), make_project(store, plan=None, seed=3)
    for project_id in (one, two):
        set_item_rules(store, project_id, ItemRules(sample_size=4))
    items = read_items(store, one)
    assert items["area"].value_counts().to_dict() == {"Animals": 4, "Tools": 4}
    assert pairs_of(items) == pairs_of(read_items(store, two))
    in_items = set(items["token_a"]) | set(items["token_b"])
    assert in_items == {token for area in AREAS for token in area.tokens}
    assert len(make_items(AREAS, ItemRules(sample_size=4), seed=4).items) == 8


def test_the_rules_hold_when_areas_change(store):
    project_id = make_project(store, plan=None)
    set_item_rules(store, project_id, ItemRules(sample_size=3))
    add_areas(store, project_id, [AreaTokens("More", ("a", "b", "c", "d"))])
    assert read_items(store, project_id)["area"].value_counts().to_dict() == {"Animals": 3, "Tools": 3, "More": 3}


def test_rules_are_fixed_once_ballot_1_is_drawn_and_checked_for_staleness(store):
    project_id = make_project(store)
    with pytest.raises(StaleError):
        set_item_rules(store, project_id, ItemRules(sample_size=3), expected_revision=1)
    draw_batch(store, project_id)
    with pytest.raises(StoreError, match="ballot 1 is drawn"):
        set_item_rules(store, project_id, ItemRules(sample_size=3))
    assert tokens.load(store, project_id).rules == ItemRules()


def test_rare_tokens_by_a_list_of_ones_own(store):
    project_id = make_project(store, plan=None)
    assert tokens.load(store, project_id).rare is None
    use_list(store, project_id, LIST, "../counts.csv", RareTerms(0.1, lower=False))
    found = tokens.load(store, project_id).rare
    assert (found.source.kind, found.source.label, found.is_proxy) == ("corpus", "counts.csv", False)
    rare = dict(zip(found.tokens["token"], found.tokens["rare"], strict=True))
    assert (rare["cat"], rare["mouse"], rare["saw"], rare["horse"]) == (False, True, True, False)
    assert found.by_area.set_index("area").loc["Animals", "n_tokens"] == 6
    (kept,) = store.uploads.iterdir()
    assert kept.read_bytes() == LIST
    use_list(store, project_id, LIST, "counts.csv", RareTerms(0.5, lower=False))
    again = tokens.load(store, project_id).rare
    assert dict(zip(again.tokens["token"], again.tokens["rare"], strict=True))["horse"]


def test_proxies_are_named_as_such(store):
    project_id = make_project(store, plan=None)
    pytest.importorskip("wordfreq")
    use_wordfreq(store, project_id, "en", RareTerms(0.1, lower=True))
    found = tokens.load(store, project_id).rare
    assert found.is_proxy
    assert "wordfreq" in found.source.label
    with pytest.raises(InputError, match="language"):
        use_wordfreq(store, project_id, "xx", RareTerms(0.1, lower=True))
    assert tokens.load(store, project_id).rare.source.language == "en"


def test_what_cannot_be_used_changes_nothing(store):
    project_id = make_project(store, plan=None)
    before = get_project(store, project_id).revision
    with pytest.raises(InputError):
        use_list(store, project_id, b"no counts here", "x.csv", RareTerms(0.1, lower=False))
    with pytest.raises(InputError, match="between 0 and 1"):
        use_list(store, project_id, LIST, "x.csv", RareTerms(0.0, lower=False))
    with pytest.raises(StoreError, match="no longer compared"):
        use_ranks(store, project_id, "nobody", RareTerms(0.1, lower=False))
    assert get_project(store, project_id).revision == before
    with store.read() as conn:
        assert source_of(conn, project_id) is None


def test_a_lost_list_is_told_and_the_page_still_works(store):
    project_id = make_project(store, plan=None)
    use_list(store, project_id, LIST + b"owl,7\n", "counts.csv", RareTerms(0.1, lower=False))
    for kept in store.uploads.iterdir():
        kept.unlink()
    assert "can't be read" in tokens.load(store, project_id).rare.problem


def test_tokens_that_hardly_differ_are_proposed(store):
    project_id = make_project(store, plan=None)
    add_areas(store, project_id, [AreaTokens("Web", ("e-mail", "email", "link"))])
    near = tokens.load(store, project_id).near
    assert pairs_of(near) == {("Web", "e-mail", "email")}


SHARED = (AreaTokens("One", ("a", "b", "c")), AreaTokens("Two", ("c", "b", "a", "d")), AreaTokens("Three", ("a", "b")))


def test_a_pair_of_several_areas_is_kept_in_each_unless_it_is_merged_into_the_first():
    assert len(make_items(SHARED, ItemRules(), 1).items) == 10
    made = make_items(SHARED, ItemRules(merge_shared=True), 1)
    assert pairs_of(made.items) == {
        ("One", "a", "b"),
        ("One", "a", "c"),
        ("One", "b", "c"),
        ("Two", "c", "d"),
        ("Two", "b", "d"),
        ("Two", "a", "d"),
    }
    assert made.items["item"].tolist() == list(range(6))
    # A pair left out of the first area by hand stays in the next.
    left = make_items(SHARED, ItemRules(excluded=(("One", "b", "a"),), merge_shared=True), 1).items
    assert ("Two", "b", "a") in pairs_of(left)
    assert ("Three", "a", "b") not in pairs_of(left)


def test_merging_is_stored_with_the_rules_and_older_rules_keep_all(store):
    project_id = make_project(store, plan=None)
    add_areas(store, project_id, SHARED)
    assert ItemRules.of({"sample_size": None, "excluded": []}) == ItemRules()
    rules = ItemRules(merge_shared=True)
    set_item_rules(store, project_id, rules)
    view = tokens.load(store, project_id)
    assert (view.rules, view.n_items) == (rules, 21 + 6)
    assert [pair[:2] for pair in view.shared] == [("a", "b"), ("a", "c"), ("b", "c")]
    set_item_rules(store, project_id, ItemRules())
    assert tokens.load(store, project_id).n_items == 21 + 10
