"""A fifth kind of question, to see that one is one class and one line in a list: the fixture `odd` puts it there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from core.base.templating import environment
from core.errors import InputError
from core.i18n import Language
from core.questions import Answers, KindInfo, RoundKind, RoundScores, RoundSettings
from core.questions.base import LOSS, TIE, VOTERS, Answering, refuse_unscored
from core.questions.best_worst.kind import draw_tuples
from core.questions.task_page import PageSettings, Words
from core.tables import Floats
from core.votes.reading import encode

INSIDE = """
{%- from "parts.html.j2" import two_words, variable with context %}
{%- from "question_parts.html.j2" import unknown_box with context %}
{%- for k in (1, 2, 3) -%}
<p class="ro-row"><label><input type="radio" name="odd_{{ n }}" value="{{ k }}" required>
{{ two_words(variable("odd_{}_a_{}".format(n, k)), variable("odd_{}_b_{}".format(n, k))) }}</label></p>
{%- endfor %}
{{- unknown_box(n) }}
"""


class OddOne(RoundKind):
    """Of three items people name the odd one; an item's score is the share of its triples that it fits into."""

    name = kind = "odd"
    about = KindInfo(
        label="odd ones",
        offered="Of three items people name the one that is unlike the others.",
        asked="triple",
        estimator="share of the triples that an item fits into",
        scale="0 to 1",
        figure=("agreement", "The share of the person's triples in which the others mostly name the same one."),
        figures={"triples": ("Triples", "Triples of which somebody named the odd one."), **VOTERS},
        editors=("tuples",),
        settings={"size": 3, "appearances": 4, "task_size": 5, "raters": 2},
    )
    fields = ("odd",)
    question = Words("Which one is the odd one?", "Which one is the odd one?")
    steps = Words("Choose the one that is unlike the others.", "Choose the one that is unlike the others.")
    keys = keys_alone = "<kbd>Tab</kbd> and <kbd>Space</kbd>"

    def draw(
        self, items: pd.DataFrame, settings: RoundSettings, rng: np.random.Generator, scores: Floats | None = None
    ) -> list[tuple[int, ...]]:
        shown = draw_tuples(items["item"].to_numpy(), settings.appearances, size=3, rng=rng)
        return [tuple(row) for row in shown.tolist()]

    def n_questions(self, settings: RoundSettings, n_items: int) -> int:
        return -(-n_items * settings.appearances // 3)

    def wanted_of_item(self, settings: RoundSettings) -> int:
        return settings.raters * settings.appearances

    def n_shown(self) -> tuple[int, int | None]:
        return 3, 3

    def columns(self, n: int, rows: int) -> list[str]:
        return [f"odd_{n}_{letter}_{k}" for k in (1, 2, 3) for letter in "ab"]

    def cells(self, n: int, place: int, item: int, token_a: str, token_b: str) -> list[tuple[str, str]]:
        return [(f"odd_{n}_item_{place}", str(item)), (f"odd_{n}_a_{place}", token_a), (f"odd_{n}_b_{place}", token_b)]

    def inside(self, settings: PageSettings, n: int) -> str:
        box = environment("core.questions", encode).from_string(INSIDE)
        return box.render(language=settings.spoken, n=n)

    def read(self, settings: RoundSettings, given: str, n_shown: int, spoken: Language) -> str:
        if given not in ("1", "2", "3"):
            raise InputError(f"{given!r} is no place from 1 to 3")
        return given

    def counts_as(self, answer: str, place: int) -> int:
        return LOSS if int(answer) == place + 1 else TIE

    def standing(self, wins: Floats, ties: Floats, losses: Floats, mean_value: Floats) -> Floats:
        n = ties + losses
        return np.divide(ties, n, out=np.full(len(n), np.nan), where=n > 0)

    def simulate(self, opinion: Floats, who: Answering, settings: RoundSettings, rng: np.random.Generator) -> list[str]:
        return [str(at + 1) for at in opinion.argmin(axis=1)]

    def score(self, answers: Answers, before: Sequence[Answers], settings: RoundSettings, seed: int) -> RoundScores:
        shown = answers.tuples()
        odd = shown[np.arange(len(shown)), np.array(answers.text, dtype=int) - 1] if len(shown) else shown.ravel()
        at = np.searchsorted(answers.items, shown)
        times = np.bincount(at.ravel(), minlength=len(answers.items))
        refuse_unscored(int((times == 0).sum()), len(times))
        out = np.bincount(np.searchsorted(answers.items, odd), minlength=len(times))
        score, nothing = 1 - out / times, np.full(len(times), np.nan)
        fit = {"voters": answers.n_voters, "triples": len(shown)}
        return RoundScores(answers.items, score, score, times, nothing, nothing, fit=fit, note="None are computed.")

    def people(self, answers: Answers, settings: RoundSettings) -> Mapping[int, float]:
        return {int(voter): 1.0 for voter in np.unique(answers.voter)}


if __name__ == "__main__":  # the voters' server, which knows the kind, too
    from core.questions import KINDS
    from voting.__main__ import main

    KINDS[OddOne.name] = OddOne()
    main()
