"""What the fuzzer reads of other schemes than votes: ratings, best–worst, orders, texts; in files and of platforms."""

from __future__ import annotations

import json
from collections.abc import Sequence

from core.dataset.side_by_side import read_scored
from core.platforms.answer_files import read_gold, read_round_results
from core.platforms.round_files import read_writing
from core.questions import round_kinds
from core.questions.best_worst.files import read_best_worst, read_item_list
from core.questions.order.orders import read_orders
from core.questions.writing import read_form, read_texts

Seeds = Sequence[tuple[str, bytes]]

_STORED = {"scale": "STSS", "gold": [{"first": "one", "second": "two", "rating": n} for n in range(2)]}
_BEST_WORST = b"""Item1,Item2,Item3,Item4,BestItem,WorstItem,Annotator
sea,ship,tax,law,sea,tax,A
ship,tax,law,sea,1,2,A
sea,ship,tax,law,ship,law,B
"""
_ORDERS = b"""target,voter,word,place
singer,A,musician,1
singer,A,person,2
singer,B,person,1.5
singer,B,musician,1.5
"""
_TEXTS = b"text_id,text,genre,level\n1,A man is out.,news,sentence\n2,A ship sails.,news,sentence\n"
_FORM = b"""text_id,larger,smaller,genre,level,wanted
1,A man is out.,A man is gone.,news,sentence,3
2,A ship sails.,A tax is paid.,news,sentence,0
"""
_HEAD = "AssignmentId,WorkerId,AssignmentStatus,SubmitTime,WorkTimeInSeconds,Input.task_id"
_GOLD = b"AssignmentId,WorkerId,Answer.gold_1,Answer.gold_2,Answer.rating_1\na1,W1,0.4,1.9,3\na2,W2,,1,2\n"
_WRITING = b"""WorkerId,AssignmentStatus,Input.text_id_1,Input.text_id_2,Answer.text_1,Answer.text_2,Answer.unknown_2
W1,Approved,1,2,A man is gone.,,on
W2,Rejected,1,2,x,y,
"""


def _of_platform(fields: str, cells: str) -> bytes:
    rows = (f"a{n},W{n},Submitted,2026-10-01T10:00:00Z,60,r1-0000000{n}-00001,{cells}\n" for n in range(3))
    return f"{_HEAD},{fields}\n{''.join(rows)}".encode()


def _rounds() -> Seeds:
    packed = json.dumps([{"rating_1": 3.5, "unknown_2": {"on": True}}]).replace('"', '""')
    return [
        ("ratings.csv", _of_platform("Answer.rating_1,Answer.rating_2,Answer.unknown_2", "3.25,,1")),
        ("boxes.csv", _of_platform("Answer.rating_1.2.5.on,Answer.rating_1.3.on", "true,false")),
        ("best.csv", _of_platform("Answer.best_1,Answer.worst_1", "3,1")),
        ("order.csv", _of_platform("Answer.order_1", "3 1 2")),
        ("packed.csv", _of_platform("Answer.taskAnswers", f'"{packed}"')),
        ("plain.csv", b"question_id,voter,answer,seconds\nr1-00000000-00001-1,A,2,3.5\nr1-00000000-00001-2,B,2,4\n"),
    ]


def _read_rounds(data: bytes) -> None:
    """As a round of each scheme; the first that takes the file ends it."""
    problem: ValueError | None = None
    for kind in round_kinds().values():
        try:
            read_round_results(data, "results.csv", kind)
        except ValueError as error:
            problem = problem or error
        else:
            return
    if problem is not None:
        raise problem


def _items() -> Seeds:
    return [("items.txt", b"sea\nship\ntax\n"), ("items.csv", b"token_a,token_b\nsea,ship\ntax,law\n")]


READERS = {
    "best worst": (lambda data: read_best_worst(data, "x.csv"), lambda: [("best.csv", _BEST_WORST)]),
    "items": (lambda data: read_item_list(data, "x.csv"), _items),
    "orders": (lambda data: read_orders(data, "x.csv"), lambda: [("orders.csv", _ORDERS)]),
    "scored": (
        lambda data: read_scored(data, "x.csv"),
        lambda: [("best.csv", _BEST_WORST), ("ratings.csv", b"token_a,token_b,score\nlove,sex,3\ntiger,cat,4\n")],
    ),
    "texts": (lambda data: read_texts(data, "x.csv"), lambda: [("texts.csv", _TEXTS)]),
    "form": (lambda data: read_form(data, "x.csv"), lambda: [("form.csv", _FORM)]),
    "rounds": (_read_rounds, _rounds),
    "gold": (lambda data: read_gold(data, "x.csv", _STORED), lambda: [("gold.csv", _GOLD)]),
    "writing": (lambda data: read_writing(data, "x.csv"), lambda: [("writing.csv", _WRITING)]),
}
__all__ = ["READERS"]
