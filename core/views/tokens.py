"""What the tokens page shows: the areas, which embedding lacks which token, proposals of tokens, and hubness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from ..base.numbers_in_words import many
from ..embeddings import REMEDIES, Embedding, Remedy
from ..errors import InputError, RunoffError
from ..store import Store
from ..store.ballots.ballot_rows import Ballot, every_ballot_of
from ..store.command import project_row
from ..store.projects.embedding_library import Imported, embeddings_of, open_library
from ..store.schema.ballots import CAMPAIGN, ROUND, TRIAL
from ..store.tokens.areas import ItemRules, areas_of, items_of, make_items, n_items_of, origins_of
from ..store.tokens.frequencies import RareTokens, rare_of
from ..tokens.files import AreaTokens, alike, invisible_characters
from ..tokens.hubness import Hubness, hubness, sample_words
from ..tokens.items import near_duplicates, shared_pairs
from ..tokens.spellings import PROPOSED, near_spellings, near_tokens
from ..votes.reading import needs_references

N_EXAMPLES = 3  # of tokens that a remedy finds
LACKING = 2  # embeddings that a sentence names
MAX_SPELLED = 100  # missing tokens that near spellings are looked for
AT_ONCE = 4_000_000  # so many pairs of a token and a word are compared without being asked for


@dataclass(frozen=True)
class Coverage:
    """An embedding and the project's tokens it has no usable vector for, with the reason of each.

    `respelled` has those that were found, but not as they are written (area, token, found_as). `has_spellings` is False
    where looking for near spellings takes longer than a click (see `load_spellings`). `problem` says why the embedding
    can't be opened, and is empty where it can.
    """

    imported: Imported
    n_tokens: int
    missing: pd.DataFrame  # area, token, reason, near (spellings of the vocabulary)
    respelled: pd.DataFrame
    has_spellings: bool = True
    problem: str = ""

    @property
    def embedding_id(self) -> str:
        return self.imported.id

    @property
    def name(self) -> str:
        return self.imported.name

    @property
    def covered(self) -> int:
        return self.n_tokens - len(self.missing)


@dataclass(frozen=True)
class Remedied:
    """An embedding and what a remedy finds in it: tokens (of the areas, each counted where it stands) that are missing
    without it, and the first of them with what they are found as."""

    name: str
    n_tokens: int
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class RemedyFor:
    """A way to find missing tokens: what it would find where it isn't in use, and what it finds where it is."""

    remedy: Remedy
    offered: tuple[Remedied, ...]
    in_use: tuple[Remedied, ...]


@dataclass(frozen=True)
class TokensView:
    """Areas, items and coverage of a project; `locked` once ballot 1 or a pilot is drawn.

    `rules` say which of the `n_pairs` became items; `rare` is None where no frequencies were chosen.
    """

    areas: tuple[AreaTokens, ...]
    n_items: int
    coverage: tuple[Coverage, ...]
    shared: tuple[tuple[str, str, tuple[str, ...]], ...]
    hidden: tuple[tuple[str, str, tuple[str, ...]], ...]
    encoded: tuple[tuple[str, str], ...]  # (area, token) with characters that batch files write as references
    fixed_by: str  # what fixes them, as sentences call it; empty while they can be changed
    rules: ItemRules
    rare: RareTokens | None
    near: pd.DataFrame  # pairs of tokens that hardly differ: proposals to exclude
    proposed: Mapping[tuple[str, str], str]  # (area, token) → name of the embedding that proposed it
    unknown: tuple[str, ...] = ()  # exclusions of pairs that aren't there
    without: tuple[tuple[str, str], ...] = ()  # (area, token) that a sample leaves without an item
    alike: tuple[tuple[str, ...], ...] = ()  # names of areas that differ in case or spaces only
    remedies: tuple[RemedyFor, ...] = ()

    @property
    def locked(self) -> bool:
        return bool(self.fixed_by)

    @property
    def n_tokens(self) -> int:
        return sum(len(area.tokens) for area in self.areas)

    @property
    def missing_said(self) -> str:
        """How many tokens the embeddings lack, those that lack most first, as part of a sentence."""
        known = [each for each in self.coverage if not each.problem]
        lacking = sorted((each for each in known if len(each.missing)), key=lambda each: -len(each.missing))
        if not known:
            return "no embedding is loaded"
        if not lacking:
            return "no token is missing in the embedding" if len(known) == 1 else "no token is missing in any embedding"
        first, *others = lacking
        text = f"{many(len(first.missing), 'token')} missing in {first.name}"
        text += "".join(f", {len(each.missing):,} in {each.name}" for each in others[: LACKING - 1])
        more = len(lacking) - LACKING
        return f"{text}, and some in {many(more, 'other')}" if more > 0 else text


@lru_cache(maxsize=32)
def _near(embedding: Embedding, tokens: tuple[str, ...]) -> dict[str, str]:
    """Near spellings of missing tokens; the same ones are asked for after each change of the project."""
    spellings = near_spellings(tokens, embedding.vocabulary, n=3)
    return {str(token): ", ".join(words) for token, words in spellings.groupby("token")["word"]}


def _coverage(store: Store, imported: Imported, rows: list[tuple[str, str]], *, always: bool = False) -> Coverage:
    """How an embedding has the tokens: rows of area and token; `always` looks for near spellings in any case."""
    tokens = list(dict.fromkeys(token for _, token in rows))
    reasons: dict[str, str] = {}
    found_as: dict[str, str] = {}
    near: dict[str, str] = {}
    problem, at_once = "", True
    try:
        embedding = open_library(store, imported)
        found_as = dict(zip(tokens, embedding.found_as(tokens), strict=True))
        reasons = dict(embedding.reasons(tokens))
        looked_up = tuple(reasons)[:MAX_SPELLED]
        at_once = always or len(looked_up) * len(embedding.vocabulary) <= AT_ONCE
        near = _near(embedding, looked_up) if at_once else {}
    except RunoffError as error:
        problem = str(error)
    missing = [(area, token, reasons[token], near.get(token, "")) for area, token in rows if token in reasons]
    respelled = [(area, token, found_as[token]) for area, token in rows if found_as.get(token, "") not in ("", token)]
    return Coverage(
        imported,
        len(rows),
        pd.DataFrame(missing, columns=["area", "token", "reason", "near"]),
        pd.DataFrame(respelled, columns=["area", "token", "found_as"]),
        at_once,
        problem,
    )


def _remedies(store: Store, coverage: Sequence[Coverage], rows: list[tuple[str, str]]) -> tuple[RemedyFor, ...]:
    """What each remedy would find in the embeddings, and what those in use find, by their vocabularies."""
    tokens = list(dict.fromkeys(token for _, token in rows))
    opened = [(each, open_library(store, each.imported)) for each in coverage if not each.problem]
    remedies = []
    for remedy in REMEDIES:
        offered, in_use = [], []
        for each, embedding in opened:
            way, missing = embedding.look_up, list(each.missing["token"].drop_duplicates())
            if way.has_remedy(remedy):
                lost = embedding.with_look_up(way.without_remedy(remedy)).missing(tokens)
                in_use.append(_remedied(each.name, embedding, [token for token in lost if token not in missing], rows))
            elif missing and way.with_remedy(remedy) != way and (remedy == "lower" or each.imported.has_vectors):
                mended = embedding.with_look_up(way.with_remedy(remedy))
                still = set(mended.missing(missing))
                gained = [token for token in missing if token not in still]
                offered += [_remedied(each.name, mended, gained, rows)] if gained else []
        remedies.append(RemedyFor(remedy, tuple(offered), tuple(in_use)))
    return tuple(remedies)


def _remedied(name: str, embedding: Embedding, tokens: list[str], rows: list[tuple[str, str]]) -> Remedied:
    """What a remedy finds in an embedding: `tokens`, counted in the `rows` of area and token, with examples."""
    gained, first = set(tokens), tokens[:N_EXAMPLES]
    examples = zip(first, embedding.found_as(first), strict=True)
    return Remedied(name, sum(token in gained for _, token in rows), tuple(examples))


def load_spellings(store: Store, project_id: str, embedding_id: str) -> Coverage:
    """An embedding's coverage with near spellings of the missing tokens, however long it takes."""
    with store.read() as conn:
        areas = areas_of(conn, project_id)
        imported = next((e for e in embeddings_of(conn, project_id) if e.id == embedding_id), None)
    if imported is None:
        raise InputError("This embedding is no longer compared in the project.")
    return _coverage(store, imported, [(area.name, token) for area in areas for token in area.tokens], always=True)


def load_items(store: Store, project_id: str) -> pd.DataFrame:
    """All items: area and tokens."""
    with store.read() as conn:
        return items_of(conn, project_id)[["area", "token_a", "token_b"]]


def _fixed_by(ballots: Sequence[Ballot]) -> str:
    """What fixes the tokens, as sentences call it: ballot 1, else the pilot, else a round; empty if nothing does."""
    of_first = {ballot.purpose: ballot for ballot in sorted(ballots, key=lambda one: -one.number)}
    return next((of_first[purpose].called for purpose in (CAMPAIGN, TRIAL, ROUND) if purpose in of_first), "")


def load(store: Store, project_id: str) -> TokensView:
    """The tokens view of a project."""
    with store.read() as conn:
        areas = areas_of(conn, project_id)
        embeddings = embeddings_of(conn, project_id)
        fixed_by = _fixed_by(every_ballot_of(conn, project_id))
        n_items = n_items_of(conn, project_id)
        project = project_row(conn, project_id)
        rules = ItemRules.of(project.item_rules)
        rare_tokens = rare_of(store, conn, project_id, areas)
        origins = origins_of(conn, project_id)
    rows = [(area.name, token) for area in areas for token in area.tokens]
    coverage = [_coverage(store, imported, rows) for imported in embeddings]
    embedding_names = {imported.id: imported.name for imported in embeddings}
    unknown_name = "an embedding that is no longer compared"
    proposed = {key: embedding_names.get(id_, unknown_name) for key, id_ in origins.items()}
    hidden = [(area, token, tuple(names)) for area, token in rows if (names := invisible_characters(token))]
    return TokensView(
        tuple(areas),
        n_items,
        tuple(coverage),
        tuple(shared_pairs(areas)),
        tuple(hidden),
        tuple(row for row in rows if needs_references(row[1])),
        fixed_by,
        rules,
        rare_tokens,
        near_duplicates(areas),
        proposed,
        *_rules_report(areas, rules, project.seed),
        tuple(alike(area.name for area in areas)),
        _remedies(store, coverage, rows),
    )


def _rules_report(
    areas: list[AreaTokens], rules: ItemRules, seed: int
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """What making the items by the rules has to report."""
    if rules == ItemRules():
        return (), ()
    items = make_items(areas, rules, seed)
    return tuple(map(str, items.unknown)), items.without


N_PROPOSED = 20
N_SAMPLED = 2000  # words of the vocabulary that are asked beside the tokens


@dataclass(frozen=True)
class ProposedView:
    """The proposals of an embedding for an area (table `PROPOSED`); `problem` says why there are none."""

    area: AreaTokens
    imported: Imported
    proposed: pd.DataFrame
    problem: str = ""


@dataclass(frozen=True)
class HubnessView:
    """Hubness of the project's tokens in an embedding; `by_tokens` has them with N_k, the greatest first.

    `n_tokens` and `n_sampled` are asked for their neighbours, as far as they have a vector.
    """

    found: Hubness | None
    by_tokens: pd.DataFrame
    n_tokens: int
    n_sampled: int
    problem: str = ""


def load_proposed(store: Store, project_id: str, embedding_id: str, area: str) -> ProposedView:
    """The words of an embedding nearest to the tokens of an area."""
    with store.read() as conn:
        areas = {each.name: each for each in areas_of(conn, project_id)}
        imported = _imported(embeddings_of(conn, project_id), embedding_id)
    if area not in areas:
        raise InputError(f"There is no area {area} any more.")
    try:
        proposed, problem = near_tokens(areas[area], open_library(store, imported), N_PROPOSED), ""
    except RunoffError as error:
        proposed, problem = PROPOSED.empty(), str(error)
    return ProposedView(areas[area], imported, proposed, problem)


def load_hubness(store: Store, project_id: str, embedding_id: str, k: int) -> HubnessView:
    """Hubness over the project's tokens and a sample of the vocabulary, which follows from the project's seed."""
    with store.read() as conn:
        tokens = list(dict.fromkeys(token for area in areas_of(conn, project_id) for token in area.tokens))
        imported = _imported(embeddings_of(conn, project_id), embedding_id)
        seed = project_row(conn, project_id).seed
    try:
        embedding = open_library(store, imported)
        in_vocabulary = [word for word in embedding.spelling(tokens) if word is not None]
        rng = np.random.default_rng([seed, 1, 7])
        words = sample_words(embedding.vocabulary, N_SAMPLED, [*tokens, *in_vocabulary], rng=rng)
        result = hubness(embedding, tokens, words, k=k)
    except RunoffError as error:
        return HubnessView(None, pd.DataFrame(), len(tokens), 0, str(error))
    with_neighbours = result.tokens.dropna(subset=["n_k"]).sort_values(["n_k", "token"], ascending=[False, True])
    n_words = int(result.words["n_k"].notna().sum())
    return HubnessView(result, with_neighbours[["token", "n_k"]].reset_index(drop=True), len(with_neighbours), n_words)


def _imported(embeddings: list[Imported], embedding_id: str) -> Imported:
    for embedding in embeddings:
        if embedding.id == embedding_id:
            return embedding
    raise InputError("This embedding is no longer compared in the project.")
