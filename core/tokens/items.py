"""Items: all unordered pairs of the tokens of each area, or a part of them (§2.2 of the paper)."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rapidfuzz.fuzz import ratio
from rapidfuzz.process import cdist

from ..base.numbers_in_words import percent
from ..errors import InputError, Issue
from ..tables import ITEMS, Schema
from .files import AreaTokens, clean_token

# Pairs to leave out; an empty area means every area. Other columns may stand beside these.
PAIRS = Schema("pairs", {"area": "text", "token_a": "text", "token_b": "text"})
# Pairs of tokens of an area that look almost the same; `ratio` from 0 to 100 (equal).
NEAR_DUPLICATES = Schema("near duplicates", {**PAIRS.columns, "ratio": "float", "reason": "text"})
# What a sample took of each area; `n_without` tokens are in no item of it.
SAMPLED = Schema(
    "sampled items", {"area": "text", "n_pairs": "int", "n_items": "int", "n_tokens": "int", "n_without": "int"}
)
_ROWS = 512


def all_pairs(areas: Sequence[AreaTokens]) -> pd.DataFrame:
    """Every pair of distinct tokens of each area, numbered 0…N−1 in the order of areas and tokens.

    N(N−1)/2 items an area of N tokens; tokens of different areas are never paired.

    >>> all_pairs([AreaTokens("x", ("a", "b", "c"))])[["token_a", "token_b"]].values.tolist()
    [['a', 'b'], ['a', 'c'], ['b', 'c']]
    """
    rows = [(area.name, a, b) for area in areas for a, b in combinations(area.tokens, 2)]
    frame = pd.DataFrame(rows, columns=["area", "token_a", "token_b"], dtype="str")
    frame.insert(0, "item", range(len(frame)))
    return ITEMS.check(frame.astype({"item": "int64"}))


def shared_pairs(areas: Sequence[AreaTokens]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Pairs of tokens that stand in more than one area, with the areas: each counts as an item of its own there."""
    several = {token for token, n in Counter(token for area in areas for token in area.tokens).items() if n > 1}
    areas_of: dict[tuple[str, str], list[str]] = {}
    for area in areas:
        for a, b in combinations(sorted(several.intersection(area.tokens)), 2):
            areas_of.setdefault((a, b), []).append(area.name)
    return [(a, b, tuple(names)) for (a, b), names in areas_of.items() if len(names) > 1]


def merge_shared(items: pd.DataFrame) -> pd.DataFrame:
    """The items without those whose two tokens, in either order, are an item of an earlier area; numbered anew.

    >>> items = all_pairs([AreaTokens("x", ("a", "b")), AreaTokens("y", ("b", "a", "c"))])
    >>> merge_shared(items)[["area", "token_a", "token_b"]].values.tolist()
    [['x', 'a', 'b'], ['y', 'b', 'c'], ['y', 'a', 'c']]
    """
    ITEMS.check(items)
    tokens = items[["token_a", "token_b"]]
    ordered = pd.DataFrame(np.sort(tokens.to_numpy(dtype=object), axis=1), index=items.index)
    return _numbered(items[~ordered.duplicated()])


@dataclass(frozen=True)
class Excluded:
    """Items that are left, numbered anew; items left out, numbered as before; given pairs that are no item."""

    items: pd.DataFrame
    excluded: pd.DataFrame
    unknown: tuple[Issue, ...]


def exclude(items: pd.DataFrame, pairs: pd.DataFrame) -> Excluded:
    """Leave out pairs of tokens, given in either order (a table of `PAIRS`; an empty area means all areas).

    A pair that is no item is reported with its row (from 1 on) and changes nothing.

    >>> items = all_pairs([AreaTokens("x", ("a", "b", "c"))])
    >>> left = exclude(items, pd.DataFrame({"area": ["", "x"], "token_a": ["c", "a"], "token_b": ["a", "d"]}))
    >>> left.items[["token_a", "token_b"]].values.tolist(), len(left.unknown)
    ([['a', 'b'], ['b', 'c']], 1)
    """
    ITEMS.check(items)
    rows = PAIRS.check(pairs)[["area", "token_a", "token_b"]].itertuples(index=False)
    asked = [(clean_token(area), *sorted((clean_token(a), clean_token(b)))) for area, a, b in rows]
    names = zip(items["area"], items["token_a"], items["token_b"], strict=True)
    keys = [(area, *sorted((a, b))) for area, a, b in names]
    wanted = set(asked)
    hits = [{key, ("", *key[1:])} & wanted for key in keys]
    drop = np.array([bool(hit) for hit in hits], dtype=bool)
    left_out = set().union(*hits)
    unknown = tuple(
        Issue("no item has this pair of tokens" + (f" in {key[0]}" if key[0] else ""), row, found=" – ".join(key[1:]))
        for row, key in enumerate(asked, start=1)
        if key not in left_out
    )
    return Excluded(_numbered(items[~drop]), items[drop].reset_index(drop=True), unknown)


def _numbered(items: pd.DataFrame) -> pd.DataFrame:
    return ITEMS.check(items.assign(item=np.arange(len(items), dtype=np.int64)).reset_index(drop=True))


@dataclass(frozen=True)
class Sampled:
    """A sample of items, numbered anew in their order; `areas` is a table of `SAMPLED`, and `without` lists the tokens
    (area, token) that have items but none in the sample."""

    items: pd.DataFrame
    areas: pd.DataFrame
    without: tuple[tuple[str, str], ...]


def sample_items(
    items: pd.DataFrame, *, size: int | None = None, share: float | None = None, rng: np.random.Generator
) -> Sampled:
    """A random sample of the items of each area: `size` items per area (all if it has no more), or a `share` of them
    (rounded, halves up, at least 1).

    Drawn uniformly without replacement. Where that leaves a token without an item, one of its items takes the place of
    one that no token needs: so every token has an item if all pairs are there and the size is at least half the number
    of tokens, and 2·size tokens have one if it is less. The paper (§2.2) allows sampling, but wants many pairs.
    Raises `InputError` unless exactly one of size (≥ 1) and share (0 to 1, 0 excluded) is given.
    """
    if (size is None) == (share is None):
        raise InputError("Give either the number of items an area or the share of them, not both.")
    if size is not None and size < 1:
        raise InputError(f"At least 1 item per area must be sampled, found {size}.")
    if share is not None and not 0 < share <= 1:
        raise InputError(f"The share of the items must be over 0 and at most 1, found {share!r}.")
    ITEMS.check(items)
    chosen, rows = [], []
    without: list[tuple[str, str]] = []
    for area, places in items.groupby("area", sort=False).indices.items():
        n = size if size is not None else max(1, math.floor(round((share or 0) * len(places), 6) + 0.5))
        part = items.iloc[places]
        ends, tokens = pd.factorize(pd.concat([part["token_a"], part["token_b"]]))
        sampled, degrees = _sample(ends.reshape(2, -1).T, len(tokens), min(n, len(places)), rng)
        chosen.append(places[sampled])
        without += [(str(area), str(tokens[token])) for token in np.flatnonzero(degrees == 0)]
        rows.append((str(area), len(places), len(sampled), len(tokens), int((degrees == 0).sum())))
    kept = np.sort(np.concatenate(chosen)) if chosen else np.empty(0, np.int64)
    areas = pd.DataFrame(rows, columns=list(SAMPLED.columns)).astype({"area": "str"})
    return Sampled(_numbered(items.iloc[kept]), SAMPLED.check(areas) if rows else SAMPLED.empty(), tuple(without))


def _sample(
    pairs: NDArray[np.int64], n_tokens: int, size: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of `size` pairs (ascending), and how many of them each token is in."""
    chosen = np.sort(rng.choice(len(pairs), size=size, replace=False))
    degrees = np.bincount(pairs[chosen].ravel(), minlength=n_tokens)
    missing = rng.permutation(np.flatnonzero(degrees == 0))
    # The places of each token's pairs, one token after the other.
    order = np.argsort(pairs, axis=None, kind="stable") // 2 if len(missing) else np.empty(0, np.int64)
    ends = np.cumsum(np.bincount(pairs.ravel(), minlength=n_tokens))
    for token in missing:
        if degrees[token]:
            continue
        for place in rng.permutation(order[ends[token - 1] if token else 0 : ends[token]]):
            degrees[pairs[place]] += 1
            spare = np.flatnonzero((degrees[pairs[chosen]] >= 2).all(axis=1))
            if len(spare):
                given_up = rng.choice(spare)
                degrees[pairs[chosen[given_up]]] -= 1
                chosen[given_up] = place
                break
            degrees[pairs[place]] -= 1
    return np.sort(chosen), degrees


def near_duplicates(areas: Sequence[AreaTokens], threshold: float = 90.0) -> pd.DataFrame:
    """Pairs of tokens of an area that are nearly the same text: proposals for `exclude`, for a person to look through.

    Compared without case, accents, spaces, "_" and hyphens; a pair is proposed if that makes both the same, if they
    differ in an English plural ending (s, es, y – ies), or if their ratio is at least `threshold` (0 to 100):

        ratio = 200 · (length of the longest common subsequence) / (sum of both lengths)

    Texts can be near and their meanings far (`microeconomics` and `macroeconomics` have 93). Returns a table of
    `NEAR_DUPLICATES` in the order of areas, then the highest ratio first. Raises `InputError` for another threshold.

    >>> near = near_duplicates([AreaTokens("x", ("e-mail", "skill", "skills", "email", "sea"))])
    >>> near[["token_a", "token_b", "ratio"]].round(1).values.tolist()
    [['e-mail', 'email', 100.0], ['skill', 'skills', 90.9]]
    """
    if not 0 <= threshold <= 100:
        raise InputError(f"The ratio must be from 0 to 100, found {threshold!r}.")
    rows: list[tuple[str, str, str, float, str]] = []
    for area in areas:
        pairs = sorted(_near(area.tokens, threshold), key=lambda row: (-row[2], row[0], row[1]))
        rows += [(area.name, area.tokens[a], area.tokens[b], value, why) for a, b, value, why in pairs]
    frame = pd.DataFrame(rows, columns=list(NEAR_DUPLICATES.columns))
    kinds = {"area": "str", "token_a": "str", "token_b": "str", "ratio": "float64", "reason": "str"}
    return NEAR_DUPLICATES.check(frame.astype(kinds))


def _near(tokens: Sequence[str], threshold: float) -> Iterable[tuple[int, int, float, str]]:
    """Positions of two tokens, their ratio and the reason."""
    texts = [_plain(token) for token in tokens]
    pairs = {pair for group in _grouped(texts) for pair in combinations(group, 2)}
    plurals = {pair for group in _grouped([_singular(text) for text in texts]) for pair in combinations(group, 2)}
    near: set[tuple[int, int]] = set()
    for start in range(0, len(texts), _ROWS):
        values = cdist(texts[start : start + _ROWS], texts, scorer=ratio, score_cutoff=threshold, dtype=np.float32)
        for a, b in zip(*(places.tolist() for places in np.nonzero(values)), strict=True):
            if start + a < b:
                near.add((start + a, b))
    for a, b in pairs | plurals | near:
        value = ratio(texts[a], texts[b])
        if (a, b) in pairs:
            yield a, b, value, "the same but for case, accents, spaces and hyphens"
        elif (a, b) in plurals:
            yield a, b, value, "the same but for a plural ending"
        else:
            yield a, b, value, f"{percent(value / 100)} the same letters in order"


def _grouped(texts: Sequence[str]) -> list[list[int]]:
    """Positions of equal texts, where there are several; empty texts belong to none."""
    groups: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        if text:
            groups.setdefault(text, []).append(place)
    return [group for group in groups.values() if len(group) > 1]


def _plain(token: str) -> str:
    """Without case, accents and separators; a text of separators only stays as it is."""
    text = "".join(
        character
        for character in unicodedata.normalize("NFKD", token.casefold())
        if not ("\u0300" <= character <= "\u036f" or unicodedata.category(character) in ("Zs", "Pd", "Pc", "Cf"))
    )
    return unicodedata.normalize("NFC", text) or token


def _singular(text: str) -> str:
    """Without an English plural ending; short words and words in -ss stay."""
    if len(text) > 4 and text.endswith("ies"):
        return text[:-3] + "y"
    if len(text) > 4 and text.endswith(("ches", "shes", "sses", "xes", "zes")):
        return text[:-2]
    return text[:-1] if len(text) > 3 and text.endswith("s") and not text.endswith(("ss", "us", "is")) else text


def pair_label(frame: pd.DataFrame) -> pd.Series:
    """How an item is written: its two tokens with a dash, and its area where items of other areas have the same two.

    >>> names = {"area": ["x", "y", "y"], "token_a": ["a", "a", "b"], "token_b": ["c", "c", "c"]}
    >>> pair_label(pd.DataFrame(names)).tolist()
    ['a – c (x)', 'a – c (y)', 'b – c']
    """
    label = frame["token_a"] + " – " + frame["token_b"]
    shared = frame.duplicated(["token_a", "token_b"], keep=False)
    return label.where(~shared, label + " (" + frame["area"] + ")")
