"""The README.md of a published dataset: a card as Hugging Face reads it, with what to load and how. Its text is
`templates/card.md.j2`; values are worked out here, and written so that Markdown shows them as they are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from ...base.templating import environment
from ...protocols.paper import REFERENCE
from ...tables import DATASET
from .checklist import known_limits
from .facts import Facts
from .markdown import md, quiet

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_LARGE = "1M<n<10M"
_TEXTS = ("area", "token_a", "token_b")
# What pandas reads as a missing value unless it is told otherwise.
_TAKEN_FOR_MISSING = frozenset(
    [
        "#N/A",
        "#N/A N/A",
        "#NA",
        "-1.#IND",
        "-1.#QNAN",
        "-NaN",
        "-nan",
        "1.#IND",
        "1.#QNAN",
        "<NA>",
        "N/A",
        "NA",
        "NULL",
        "NaN",
        "None",
        "n/a",
        "nan",
        "null",
    ]
)


def card(facts: Facts, configs: Mapping[str, Mapping[str, str]], files: Sequence[tuple[str, str]], stem: str) -> bytes:
    """The card: a YAML header (`configs`: what to load by name, a file per split), and the text.

    files : path and what it is, for people. stem : what the folder is called in the examples.
    """
    dataset = facts.dataset
    tokens = {*dataset["token_a"], *dataset["token_b"]}
    numbers = [name for name in dataset.columns if name not in _TEXTS]
    scales = [(ranking.area, scale) for ranking in facts.rankings for scale in ranking.scales]
    page = environment(__package__, quiet).get_template("card.md.j2")
    return page.render(
        facts=facts,
        configs=configs,
        first_split=next(iter(configs["default"])),
        files=files,
        stem=stem,
        size=next((name for most, name in _SIZES if len(dataset) < most), _LARGE),
        numbers=numbers,
        floats=[name for name in numbers if DATASET.columns.get(name) == "float"],
        n_tokens=len(tokens),
        lost=sorted(tokens & _TAKEN_FOR_MISSING),
        several=len(facts.rankings) > 1,
        scales=scales,
        reasons=dict.fromkeys(f"{area}: {of.why_not}" if area else of.why_not for area, of in scales if of.why_not),
        limits=known_limits(facts),
        reference=REFERENCE,
        json=json.dumps,
        md=md,
        three=_three,
        yaml_text=yaml_text,
    ).encode("utf-8")


def yaml_text(text: str) -> str:
    """A text as a double-quoted YAML scalar: JSON's form, with what YAML can't print as escapes.

    >>> yaml_text('a "b": c')
    '"a \\\\"b\\\\": c"'
    """
    return "".join(
        char if char.isprintable() else f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
        for char in json.dumps(text, ensure_ascii=False)
    )


def _three(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}".replace("-", "−")
