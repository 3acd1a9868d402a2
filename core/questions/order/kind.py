"""Orders as a kind of question: people put the positives of a target in order, and models are ranked by those orders.

A question is one target; an answer lists all places, most related first, `3 1 2`. Orders score no item by itself: what
they say is of words of one target (`groups`).

Target groups are read and written as the text files in which Avraham and Goldberg published theirs:

    singer                       the target
    musician,0.90,person,0.10    two positives, each with the share of people that put it above the other
    distractors
    musician,1.00,song,0.00      a positive above a distractor
    randoms
    musician,1.00,laptop,0.00    a positive above a random

An empty line may stand between groups; a line without a comma that is no heading begins one. Words stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ...errors import InputError, Issue, PlanError, UndefinedMetricError
from ...i18n import Language, translatable
from ...tables import Floats, Ints
from ...tabular import decode_bytes
from ..base import VOTERS, Answering, Answers, KindInfo, RoundKind, RoundScores, RoundSettings, refuse_unscored
from ..task_page import Words
from .groups import GroupComparison, Kind, TargetGroup, compared, from_orders
from .orders import group_agreement

_HEADINGS: dict[str, Kind] = {"distractors": "distractor", "randoms": "random", "positives": "positive"}
_LINE_END = re.compile(r"\r\n|\r|\n")  # and no other: U+2028 and the like are characters of a word
_TOLERANCE = 0.011  # shares are written with two digits


@dataclass(frozen=True)
class GroupFile:
    """What a file holds: `comparisons` in its order, each once, the preferred word first.

    `repeated` are the lines that said once more what an earlier one had said; they are not in `comparisons` again.
    `notes` say how the file was read.
    """

    comparisons: tuple[GroupComparison, ...]
    repeated: tuple[Issue, ...] = ()
    notes: tuple[str, ...] = ()


def read_group_file(data: bytes, name: str, *, encoding: str | None = None) -> GroupFile:
    """The comparisons of a file, in an encoding that is found by looking unless it is given; see `read_groups`."""
    decoded = decode_bytes(data, name, encoding=encoding, braces=True)
    return replace(read_groups(decoded.text), notes=tuple(map(str, decoded.notes)))


def read_groups(text: str) -> GroupFile:
    """Read comparisons of target groups.

    Raises `InputError` naming every line that isn't one of the module's, whose shares don't add up to 1, or which
    says otherwise than an earlier one of the same two words, and for a text without comparisons.
    """
    by_pair: dict[tuple[str, frozenset[str]], GroupComparison] = {}
    issues: list[Issue] = []
    repeated: list[Issue] = []
    target, kind = "", "positive"
    for number, line in enumerate(_LINE_END.split(text.removeprefix("\ufeff")), 1):
        cells = [cell.strip() for cell in line.split(",")]
        if cells == [""]:
            continue
        if len(cells) == 1:
            target, kind = (target, _HEADINGS[cells[0]]) if cells[0] in _HEADINGS else (cells[0], "positive")
            continue
        try:
            comparison = _comparison(target, kind, cells)
            key = (target, frozenset((comparison.first, comparison.second)))
            if by_pair.get(key, comparison) != comparison:
                raise InputError("an earlier line says otherwise of these two words")
        except InputError as error:
            issues.append(Issue(str(error).rstrip("."), row=number, found=line))
            continue
        if key in by_pair:
            repeated.append(Issue("says what an earlier line said", row=number, found=line))
        by_pair[key] = comparison
    if issues:
        raise InputError("These target groups can't be read.", issues)
    if not by_pair:
        raise InputError("There are no comparisons of target groups in it.")
    return GroupFile(tuple(by_pair.values()), tuple(repeated))


def _comparison(target: str, kind: str, cells: list[str]) -> GroupComparison:
    if not target:
        raise InputError("a comparison comes before any target")
    if len(cells) != 4:
        raise InputError(f"a comparison has four parts (word, share, word, share), found {len(cells)}")
    one, other = cells[0], cells[2]
    if not one or not other or len({one, other, target}) < 3:
        raise InputError("a comparison needs two different words that aren't the target")
    try:
        shares = float(cells[1]), float(cells[3])
    except ValueError:
        raise InputError("a share is no number") from None
    if not (abs(sum(shares) - 1) <= _TOLERANCE and min(shares) >= 0):
        raise InputError("the two shares must add up to 1")
    if kind == "positive":
        return compared(target, one, other, shares[0] / sum(shares))
    if shares[0] < shares[1]:
        one, other, shares = other, one, shares[::-1]
    if shares[1] > 0:
        raise InputError(f"a {kind} lies below by definition: its share is 0")
    return GroupComparison(target, one, other, "distractor" if kind == "distractor" else "random", 1.0)


def write_groups(comparisons: Iterable[GroupComparison]) -> str:
    """The text of `read_groups`; shares with as many digits as they need, so that it reads back the same."""
    by_target: dict[str, list[GroupComparison]] = {}
    for comparison in comparisons:
        by_target.setdefault(comparison.target, []).append(comparison)
    blocks = []
    for target, rows in by_target.items():
        lines = [target]
        for heading, kind in (("", "positive"), ("distractors", "distractor"), ("randoms", "random")):
            of_kind = [row for row in rows if row.kind == kind]
            if of_kind and heading:
                lines.append(heading)
            lines += [f"{row.first},{_share(row.r)},{row.second},{_share(1 - row.r)}" for row in of_kind]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def _share(value: float) -> str:
    text = f"{round(value, 12):.12f}".rstrip("0")
    whole, _, digits = text.partition(".")
    return f"{whole}.{digits:0<2}"


def groups_of(comparisons: Iterable[GroupComparison]) -> list[TargetGroup]:
    """The groups that comparisons belong to, words in the order in which they come.

    A target with a comparison of one positive and no other still has that positive.
    """
    words: dict[str, dict[Kind, dict[str, None]]] = {}
    for comparison in comparisons:
        of_target = words.setdefault(comparison.target, {"positive": {}, "distractor": {}, "random": {}})
        of_target["positive"].setdefault(comparison.first)
        of_target[comparison.kind].setdefault(comparison.second)
    return [
        TargetGroup(target, tuple(of["positive"]), tuple(of["distractor"]), tuple(of["random"]))
        for target, of in words.items()
    ]


WORDS = 10
_SEPARATORS = re.compile(r"[\s,;>]+")
Orders = dict[int, dict[str, dict[str, float]]]  # of a voter: target → word → place, 1 = most related


def ordered(answer: str) -> list[int]:
    """The places, from 0, of an answer in the store, most related first.

    >>> ordered("3 1 2")
    [2, 0, 1]
    """
    return [int(place) - 1 for place in answer.split()]


def given_orders(answers: Answers) -> Orders:
    """The orders that count, by voter: the place of each positive of each target."""
    shown = answers.words
    words = shown.sort_values(["question_id", "place"]).groupby("question_id", sort=False)["token_b"].agg(list)
    target = shown.drop_duplicates("question_id").set_index("question_id")["token_a"]
    orders: Orders = {}
    for question, voter, answer in zip(
        answers.questions[answers.question].tolist(), answers.voter.tolist(), answers.text, strict=True
    ):
        places = {words[question][place]: float(rank) for rank, place in enumerate(ordered(answer), 1)}
        orders.setdefault(voter, {})[target[question]] = places
    return orders


class OrderKind(RoundKind):
    """In which order are these words related to the target?"""

    name = kind = "order"
    about = KindInfo(
        label="orders of target groups",
        offered="People put the positives of a target word into order; only words of one target are compared.",
        asked="target",
        figure=("agreement", "Mean of Spearman's ρ with every other person who ordered the same targets."),
        figures={
            "agreement": ("Agreement", "Mean over pairs of people of Spearman's ρ between their orders."),
            "orders": ("Orders", "Orders that count."),
            **VOTERS,
        },
        editors=("groups",),
        settings={"raters": 10, "task_size": 5, "seconds": 36.0},
        scores_items=False,
        by_words=True,
        files=("target groups",),
    )
    fields = ("order",)
    scripts = ("scheme.js", "scheme_drag.js", "scheme_order.js")
    question = Words(
        translatable("Which word is most related to the target?"),
        translatable("Which word is most similar to the target?"),
    )
    steps = Words(
        translatable(
            "Put the words of each target into an order: the one that is most related to the target at the top, the "
            "least at the bottom. Then say that the order is yours."
        ),
        translatable(
            "Put the words of each target into an order: the one that is most similar to the target at the top, the "
            "least at the bottom. Then say that the order is yours."
        ),
    )
    keys = translatable(
        "<kbd>↑</kbd> <kbd>↓</kbd> choose a word, with <kbd>Shift</kbd> move it, a number sends it to that place; "
        "<kbd>Enter</kbd> takes the order and moves on, <kbd>U</kbd> a word you don’t know"
    )
    keys_alone = translatable(
        "<kbd>↑</kbd> <kbd>↓</kbd> choose a word, with <kbd>Shift</kbd> move it, a number sends it to that place; "
        "<kbd>Enter</kbd> takes the order and sends it, <kbd>U</kbd> a word you don’t know"
    )
    rows = ("words", 2, WORDS)

    def draw(
        self, items: pd.DataFrame, settings: RoundSettings, rng: np.random.Generator, scores: Floats | None = None
    ) -> list[tuple[int, ...]]:
        """One question a group, its positives in random order; every positive must be an item with its target."""
        groups = groups_as_items(settings.groups, items)
        return [tuple(int(item) for item in rng.permutation(np.asarray(group))) for group in groups]

    def n_questions(self, settings: RoundSettings, n_items: int) -> int:
        return len(settings.groups)

    def check(self, settings: RoundSettings, *, with_groups: bool) -> None:
        if not with_groups:
            return
        if not settings.groups:
            raise PlanError("There is no target group to order. Propose or read some first.")
        single = [group.target for group in settings.groups if len(group.positives) < 2]
        if single:
            raise PlanError(f"{', '.join(single[:5])}: fewer than two positives, so there is nothing to order.")

    def lacks(self, settings: RoundSettings) -> str:
        return "" if settings.groups else "groups"

    def columns(self, n: int, rows: int) -> list[str]:
        return [f"order_{n}_target", *(f"order_{n}_word_{k}" for k in range(1, rows + 1))]

    def head(self, n: int, token_a: str) -> list[tuple[str, str]]:
        return [(f"order_{n}_target", token_a)]

    def cells(self, n: int, place: int, item: int, token_a: str, token_b: str) -> list[tuple[str, str]]:
        return [(f"order_{n}_item_id_{place}", str(item)), (f"order_{n}_word_{place}", token_b)]

    def turned(self, pairs: Sequence[tuple[str, str]], swapped: bool) -> list[tuple[str, str]]:
        """The target, which all items share, comes first."""
        (target,) = set.intersection(*(set(pair) for pair in pairs))
        return [(target, pair[0] if pair[1] == target else pair[1]) for pair in pairs]

    def read(self, settings: RoundSettings, given: str, n_shown: int, spoken: Language) -> str:
        """Places with spaces, commas or > between."""
        places = [part for part in _SEPARATORS.split(given) if part]
        if sorted(places) != sorted(str(place) for place in range(1, n_shown + 1)):
            raise InputError(spoken.text(
                "{given} isn't an order of the places 1 to {last}, each once", given=repr(given), last=n_shown
            ))  # fmt: skip
        return " ".join(places)

    def simulate(self, opinion: Floats, who: Answering, settings: RoundSettings, rng: np.random.Generator) -> list[str]:
        """All of the opinions."""
        ranks = put_in_order(opinion, who.lapse, rng)
        return [" ".join(str(place + 1) for place in np.argsort(row).tolist()) for row in ranks]

    def score(self, answers: Answers, before: Sequence[Answers], settings: RoundSettings, seed: int) -> RoundScores:
        orders = given_orders(answers)
        n_orders = sum(len(of_voter) for of_voter in orders.values())
        refuse_unscored(int(n_orders == 0), 1)
        try:
            agreement = group_agreement({str(voter): of_voter for voter, of_voter in orders.items()})
            fit: dict[str, Any] = {"agreement": agreement.mean, "pairs_of_voters": agreement.n_pairs}
        except UndefinedMetricError as error:
            fit = {"agreement": None, "why": str(error)}
        nothing, none = np.empty(0), np.empty(0, dtype=np.int64)
        counted = {"orders": n_orders, "voters": len(orders)}
        return RoundScores(none, nothing, nothing, none, nothing, nothing, fit=fit | counted)

    def people(self, answers: Answers, settings: RoundSettings) -> Mapping[int, float]:
        orders = given_orders(answers)
        try:
            agreement = group_agreement({str(voter): of_voter for voter, of_voter in orders.items()})
        except UndefinedMetricError:
            return {}
        return {int(person.voter): person.agreement for person in agreement.people if person.agreement is not None}

    def preferences(self, answers: Answers, settings: RoundSettings) -> list[GroupComparison]:
        """R of every two positives by the orders that count, with what holds by definition, group by group."""
        orders = given_orders(answers)
        comparisons: list[GroupComparison] = []
        for group in settings.groups:
            orders_of_target = [of_voter[group.target] for of_voter in orders.values() if group.target in of_voter]
            comparisons += from_orders(group, orders_of_target)
        return comparisons


def groups_as_items(groups: Sequence[TargetGroup], items: pd.DataFrame) -> list[list[int]]:
    """The item position of each positive of each group, in the order of the group.

    Where several areas have the target with all its positives, the first of them. Raises `InputError` naming each
    group with a positive that is no item with its target.
    """
    at: dict[str, dict[frozenset[str], int]] = {}
    for area, item, a, b in items[["area", "item", "token_a", "token_b"]].itertuples(index=False, name=None):
        at.setdefault(area, {})[frozenset((a, b))] = item
    found, issues = [], []
    for row, group in enumerate(groups, 1):
        pairs = [frozenset((group.target, word)) for word in group.positives]
        here = next((pairs_of for pairs_of in at.values() if all(pair in pairs_of for pair in pairs)), None)
        if here is None:
            missing = [
                w for w, pair in zip(group.positives, pairs, strict=True) if not any(pair in x for x in at.values())
            ]
            of_several = "its positives are of several areas"
            reason = f"no item with the target: {', '.join(missing)}" if missing else of_several
            issues.append(Issue(reason, row=row, found=group.target))
        else:
            found.append([here[pair] for pair in pairs])
    if issues:
        raise InputError(
            "Some groups have positives that aren't items of the project with their target. Take positives from the "
            "area of the target.", issues,
        )  # fmt: skip
    return found


def put_in_order(opinion: Floats, lapse: Floats | float, rng: np.random.Generator) -> Ints:
    """Places 1…size of each row's items (n, size) by simulated voters, 1 = most related; by a lapse each two neighbours
    change places.

    >>> put_in_order(np.array([[0.1, 0.9, 0.5]]), 0.0, np.random.default_rng(1))
    array([[3, 1, 2]])
    """
    n, size = opinion.shape
    order = np.lexsort((rng.random(opinion.shape), -opinion), axis=1)
    for place in range(size - 1):
        slip = rng.random(n) < lapse
        order[slip, place : place + 2] = order[slip, place : place + 2][:, ::-1]
    places = np.empty_like(order)
    np.put_along_axis(places, order, np.arange(1, size + 1)[None, :].repeat(n, axis=0), axis=1)
    return places
