"""A fourth protocol, to see that one is one class and one line in a list: the fixture `swiss` puts it there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.protocols import Held, Mode, Protocol, Scored, SelectedItems
from core.protocols.base import ProtocolInfo, Sampler
from core.protocols.paper import borda_of
from core.scores.borda import VotesOf
from core.tables import Floats, Ints


class Swiss(Protocol):
    """Neighbours by wins meet; a score is a hundredth of an item's wins so far, a tie half of one."""

    name = "swiss"
    about = ProtocolInfo(
        label="Swiss",
        offered="Swiss: neighbours by wins",
        advice="Swiss lets those meet that won as often.",
        score="A hundredth of the votes it won.",
        estimator="wins",
        scale="hundredths",
        methods=(("paragraph", "Swiss. Items meet that won as often so far."),),
    )

    def select(self, held: Sequence[Held], n: int, rng: np.random.Generator) -> SelectedItems:
        last = self.last_scores(held)
        best = np.sort(np.argsort(-last.rank_by, kind="stable")[:n])
        return SelectedItems(last.items[best], last.rank_by[best], 0, 0)

    def draw(self, items: Ints, n: int, held: Sequence[Held], rng: np.random.Generator, sampler: Sampler) -> Ints:
        if not held:
            return sampler(items, n, rng)
        order = items[np.argsort(-self._points(held, items), kind="stable")]
        steps = [np.column_stack((order, np.roll(order, -step))) for step in range(1, len(items))]
        return rng.permutation(np.concatenate(steps)[:n])

    def score(self, votes: VotesOf, held: Sequence[Held], mode: Mode = Mode.FINAL) -> Scored:
        x, times = borda_of(votes)
        points = x * times / 100
        if held:
            points = np.nan_to_num(points) + self._points(held, votes.items)
        return Scored(votes.items, points, points)

    def _points(self, held: Sequence[Held], items: Ints) -> Floats:
        last = self.last_scores(held)
        return last.rank_by[np.searchsorted(last.items, items)]
