"""Files in a published dataset's zip with which other evaluation programs run models on it.

Programs and settings are rendered from `templates/`; what is put into them is a literal of Python or of YAML, whatever
a text holds.

The comparisons that people decided are asked twice, once with either item first: a model that answers by the place of
an answer, as many language models do, answers the two differently.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pandas as pd

from ...base.numbers_in_words import VoterCount, many
from ...base.templating import environment
from ...tables import Schema
from ..datasheet.facts import Facts
from ..datasheet.sheet import yaml_text
from ..formats import mteb_bounds
from ..published import COMPARED, VOTES

# `pair` counts the comparisons from 1, and each has two rows: `order` 1 has its first item first, 2 its second.
# `answer` is A or B, the side that has more of the `votes` counted votes; `share` is what it has of them (a tie is half
# a vote), above .5. `gap` is the distance of the two items' scores in the dataset, missing where one has none.
BOTH_ORDERS = Schema(
    "comparisons in both orders",
    {"pair": "int", "order": "int", "question": "text", "choice_a": "text", "choice_b": "text", "answer": "text"}
    | {"votes": "int", "share": "float", "gap": "float", "ranking": "text", "ballot": "int", "comparison": "int"},
)
_AT = ["ranking", "ballot", "comparison"]


def both_orders(
    items: pd.DataFrame, comparisons: pd.DataFrame, votes: pd.DataFrame, dataset: pd.DataFrame, question: str
) -> pd.DataFrame:
    """A table of BOTH_ORDERS: the main comparisons of ballots from 1 on whose counted votes prefer one side.

    Comparisons nobody decided (no counted vote, or as many for either side) are left out; the table may be empty.

    items : schema ITEMS. comparisons, votes : as in `CampaignRecord`. dataset : schema DATASET, for `gap`.
    question : what people read, instructions included.
    """
    main = COMPARED.check(comparisons)
    main = main[(main["role"] == "main") & (main["ballot"] > 0)]
    counted = VOTES.check(votes)
    counted = counted[counted["status"] == "counted"]
    won = counted.groupby(_AT, sort=False)["value"].agg(["sum", "count"]).reset_index()
    asked = main.merge(won, on=_AT, how="inner", validate="one_to_one").reset_index(drop=True)
    asked["won"] = asked["sum"] / asked["count"]
    asked = asked[asked["won"] != 0.5].reset_index(drop=True)
    if asked.empty:
        return BOTH_ORDERS.empty()

    at = {item: row for row, item in enumerate(items["item"])}
    named = [f"{a} – {b}" for a, b in zip(items["token_a"], items["token_b"], strict=True)]
    scores = _scores(items, dataset)
    first, second = (np.array([at[item] for item in asked[side]], dtype=np.intp) for side in ("first", "second"))
    gap = np.abs(scores[first] - scores[second])
    rows = []
    for row, (left, right, is_first) in enumerate(zip(first, second, asked["won"] > 0.5, strict=True)):
        for order, (a, b) in enumerate(((left, right), (right, left)), 1):
            answer = "A" if is_first == (order == 1) else "B"
            rows.append((row + 1, order, question, named[a], named[b], answer))
    table = pd.DataFrame(rows, columns=["pair", "order", "question", "choice_a", "choice_b", "answer"])
    twice = np.repeat(np.arange(len(asked)), 2)
    table["votes"] = asked["count"].to_numpy(dtype=np.int64)[twice]
    of_first = asked["won"].to_numpy(dtype=np.float64)
    table["share"] = np.maximum(of_first, 1 - of_first)[twice]
    table["gap"] = gap[twice]
    for name in _AT:
        table[name] = asked[name].to_numpy()[twice]
    texts = {name: "str" for name, kind in BOTH_ORDERS.columns.items() if kind == "text"}
    return BOTH_ORDERS.check(table.astype(texts)[list(BOTH_ORDERS.columns)])


def _scores(items: pd.DataFrame, dataset: pd.DataFrame) -> np.ndarray:
    """The scores of the items (n,), NaN where the dataset has none."""
    keys = ("area", "token_a", "token_b")
    known = dict(zip(zip(*(dataset[key] for key in keys), strict=True), dataset["score"], strict=True))
    return np.array(
        [known.get(key, np.nan) for key in zip(*(items[key] for key in keys), strict=True)], dtype=np.float64
    )


# The languages of ISO 639-1 that mteb names by ISO 639-3 and the script that they are mostly written in.
MTEB_LANGUAGES = {
    "ar": "ara-Arab", "bg": "bul-Cyrl", "bn": "ben-Beng", "ca": "cat-Latn", "cs": "ces-Latn", "cy": "cym-Latn",
    "da": "dan-Latn", "de": "deu-Latn", "el": "ell-Grek", "en": "eng-Latn", "eo": "epo-Latn", "es": "spa-Latn",
    "et": "est-Latn", "eu": "eus-Latn", "fa": "fas-Arab", "fi": "fin-Latn", "fr": "fra-Latn", "ga": "gle-Latn",
    "gl": "glg-Latn", "he": "heb-Hebr", "hi": "hin-Deva", "hr": "hrv-Latn", "hu": "hun-Latn", "hy": "hye-Armn",
    "id": "ind-Latn", "is": "isl-Latn", "it": "ita-Latn", "ja": "jpn-Jpan", "ka": "kat-Geor", "ko": "kor-Hang",
    "la": "lat-Latn", "lt": "lit-Latn", "lv": "lav-Latn", "mk": "mkd-Cyrl", "ms": "msa-Latn", "mt": "mlt-Latn",
    "nb": "nob-Latn", "nl": "nld-Latn", "nn": "nno-Latn", "no": "nor-Latn", "pl": "pol-Latn", "pt": "por-Latn",
    "ro": "ron-Latn", "ru": "rus-Cyrl", "sk": "slk-Latn", "sl": "slv-Latn", "sq": "sqi-Latn", "sr": "srp-Cyrl",
    "sv": "swe-Latn", "sw": "swa-Latn", "ta": "tam-Taml", "th": "tha-Thai", "tr": "tur-Latn", "uk": "ukr-Cyrl",
    "ur": "urd-Arab", "vi": "vie-Latn", "zh": "zho-Hans",
}  # fmt: skip
_UNKNOWN_LANGUAGE = "und-Zyyy"
_MTEB_LICENCES = ("cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc0-1.0", "odc-by", "mit")

MTEB_TASK = "evaluation/mteb_task.py"
BOTH_ORDERS_FILE = "data/both_orders.parquet"
# What needs the comparisons in both orders: path and template.
_JUDGES: dict[str, tuple[str, Callable[[str], str]]] = {
    "eval.yaml": ("eval.yaml.j2", yaml_text),
    "evaluation/inspect_task.py": ("inspect_task.py.j2", repr),
    "evaluation/lm_eval/comparisons.yaml": ("lm_eval.yaml.j2", yaml_text),
    "evaluation/lm_eval/both_orders.py": ("lm_eval_functions.py.j2", repr),
}


def mteb_task(facts: Facts, stem: str) -> bytes:
    """The task for MTEB (MTEB_TASK); `InputError` where no item has a score."""
    lowest, highest = mteb_bounds(facts.dataset)
    fields, notion = facts.fields, facts.about["notion"]
    return _rendered(
        "mteb_task.py.j2",
        repr,
        name=task_name(stem),
        description=description(facts),
        revision=facts.version or "unreleased",
        language=mteb_language(fields.language),
        main_score="abs_cosine_rho_w" if notion == "relatedness" else "cosine_rho_w",
        licence=fields.licence if fields.licence in _MTEB_LICENCES else "not specified",
        annotators="algorithmic" if facts.voters.n_simulated else "human-annotated",
        lowest=repr(lowest),
        highest=repr(highest if highest > lowest else lowest + 1.0),  # mteb divides by their difference
    )


def judges(facts: Facts, stem: str) -> dict[str, bytes]:
    """What asks language models the comparisons of BOTH_ORDERS_FILE, by path: for the Hub, Inspect and lm_eval."""
    values = {
        "title": facts.title,
        "description": description(facts),
        "name": task_name(stem),
        "task": task_name(stem),
        "version": facts.version or "unreleased",
    }
    return {path: _rendered(template, escape, **values) for path, (template, escape) in _JUDGES.items()}


def task_name(stem: str) -> str:
    """What programs call the task: letters, digits and underscores.

    >>> task_name("jobs-skills-simulated-1.0")
    'jobs_skills_simulated_1_0'
    """
    return re.sub(r"[^a-z0-9]+", "_", stem.lower()).strip("_") or "dataset"


def mteb_language(tag: str) -> str:
    """A language tag as mteb writes it, by its script where it names one; "und-Zyyy" where it isn't known.

    >>> mteb_language("pt-BR"), mteb_language("sr-Latn"), mteb_language("")
    ('por-Latn', 'srp-Latn', 'und-Zyyy')
    """
    language, *more = tag.split("-")
    known = MTEB_LANGUAGES.get(language)
    if known is None:
        return _UNKNOWN_LANGUAGE
    script = next((part for part in more if re.fullmatch("[A-Z][a-z]{3}", part)), known[4:])
    return f"{known[:4]}{script}"


def description(facts: Facts) -> str:
    """The dataset in a sentence or two, with the numbers behind it."""
    about, voters = facts.about, facts.about["voters"]
    related = "related" if about["notion"] == "relatedness" else "similar"
    people = VoterCount(voters["people"], voters["simulated"]).named
    items = f"{many(len(facts.dataset), 'item')} of {many(len(facts.areas), 'area')}"
    told = (
        f"How {related} two words or expressions are: {items}, "
        f"scored from {many(about['votes'], 'pairwise vote')} of {people}."
    )
    if facts.is_provisional:
        told += " Provisional: the collection isn't finished, and scores will change."
    return told


def _rendered(template: str, escape: Callable[[str], str], **values: object) -> bytes:
    return environment(__package__, escape).get_template(template).render(**values).encode("utf-8")
