"""How people did on the gold pairs of a rating page, read from a platform's result file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InputError, Issue
from ..questions.rating.gold_pairs import Qualified
from ..questions.rating.page import RATING_PAGE, read_qualification
from ..questions.task_page import settings_of_page
from ..tabular import places_of
from .result_tables import open_results


def read_gold(data: bytes, filename: str, stored: Mapping[str, Any]) -> list[Qualified]:
    """How each person did, in the order of the file; of a person's several assignments the first counts.

    stored : the settings that the page was made with, gold pairs among them; those of a page that shows them once tell
    it of every task. Raises `InputError` for settings without gold pairs, or a file without their columns.
    """
    n_gold = len(settings_of_page(RATING_PAGE, stored).gold)
    table = open_results(data, filename)
    wanted = ["workerid", *(f"answer.gold_{n}" for n in range(1, n_gold + 1))]
    place = places_of(table, wanted)
    missing = [Issue("column is missing", column=name) for name in wanted if name not in place]
    if missing or not n_gold:
        raise InputError(f"{filename} says nothing of the gold pairs.", missing or [Issue("there are no gold pairs")])
    rows = table.texts([place[name] for name in wanted], max(place[name] for name in wanted) + 1)
    found: dict[str, Qualified] = {}
    for voter, *given in zip(*(column.tolist() for column in rows.columns), strict=True):
        fields = {f"gold_{n}": text for n, text in enumerate(given, 1)}
        if voter.strip() and voter.strip() not in found:
            n_left_out = sum(not text.strip() for text in given)
            found[voter.strip()] = Qualified(voter.strip(), read_qualification(fields, stored), n_left_out)
    return list(found.values())
