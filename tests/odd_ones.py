"""A fifth kind of question, to see that one is one class and one line in a list: the fixture `odd` puts it there."""

from __future__ import annotations

import numpy as np

from core.errors import InputError
from core.questions import About, RoundKind, RoundScores
from core.questions.base import LOSS, TIE, refuse_unscored
from core.questions.best_worst.tuples import draw_tuples
from core.questions.task_page import Words, two_words, unknown_box


class OddOne(RoundKind):
    """Of three items people name the odd one; an item's score is the share of its triples that it fits into."""

    name = kind = "odd"
    about = About(
        label="odd ones",
        offered="Of three items people name the one that is unlike the others.",
        asked="triple",
        estimator="share of the triples that an item fits into",
        scale="0 to 1",
        figure=("agreement", "The share of the person's triples in which the others mostly name the same one."),
        editors=("tuples",),
        settings={"size": 3, "appearances": 4, "task_size": 5, "raters": 2},
    )
    fields = ("odd",)
    question = Words("Which one is the odd one?", "Which one is the odd one?")
    steps = Words("Choose the one that is unlike the others.", "Choose the one that is unlike the others.")
    keys = keys_alone = "<kbd>Tab</kbd> and <kbd>Space</kbd>"

    def draw(self, items, settings, rng, scores=None):
        shown = draw_tuples(items["item"].to_numpy(), settings.appearances, size=3, rng=rng)
        return [tuple(row) for row in shown.tolist()]

    def n_questions(self, settings, n_items):
        return -(-n_items * settings.appearances // 3)

    def wanted_of_item(self, settings):
        return settings.raters * settings.appearances

    def n_shown(self):
        return 3, 3

    def columns(self, n, rows):
        return [f"odd_{n}_{letter}_{k}" for k in (1, 2, 3) for letter in "ab"]

    def cells(self, n, place, item, token_a, token_b):
        return [(f"odd_{n}_item_{place}", str(item)), (f"odd_{n}_a_{place}", token_a), (f"odd_{n}_b_{place}", token_b)]

    def inside(self, settings, n):
        rows = "".join(
            f'<p class="ro-row"><label><input type="radio" name="odd_{n}" value="{k}" required> '
            f"{two_words(settings, f'${{odd_{n}_a_{k}}}', f'${{odd_{n}_b_{k}}}')}</label></p>"
            for k in (1, 2, 3)
        )
        return rows + unknown_box(settings, n)

    def read(self, settings, given, n_shown, spoken):
        if given not in ("1", "2", "3"):
            raise InputError(f"{given!r} is no place from 1 to 3")
        return given

    def counts_as(self, answer, place):
        return LOSS if int(answer) == place + 1 else TIE

    def standing(self, wins, ties, losses, mean_value):
        n = ties + losses
        return np.divide(ties, n, out=np.full(len(n), np.nan), where=n > 0)

    def simulate(self, opinion, who, settings, rng):
        return [str(at + 1) for at in opinion.argmin(axis=1)]

    def score(self, answers, before, settings, seed):
        shown = answers.tuples()
        odd = shown[np.arange(len(shown)), np.array(answers.text, dtype=int) - 1] if len(shown) else shown.ravel()
        at = np.searchsorted(answers.items, shown)
        times = np.bincount(at.ravel(), minlength=len(answers.items))
        refuse_unscored(int((times == 0).sum()), len(times))
        out = np.bincount(np.searchsorted(answers.items, odd), minlength=len(times))
        score, nothing = 1 - out / times, np.full(len(times), np.nan)
        fit = {"voters": answers.n_voters, "triples": len(shown)}
        return RoundScores(answers.items, score, score, times, nothing, nothing, fit=fit, note="None are computed.")

    def people(self, answers, settings):
        return {int(voter): 1.0 for voter in np.unique(answers.voter)}
