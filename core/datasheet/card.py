"""The README.md of a published dataset: a card as Hugging Face reads it, with what to load and how."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from ..protocols.paper import REFERENCE
from ..tables import DATASET
from .facts import Facts
from .limits import known_limits
from .writing import md, quiet

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
    """The card: a YAML header (`configs`: what to load by name, a file a split), and the text.

    files : path and what it is, for people. stem : what the folder is called in the examples.
    """
    told = [
        "---",
        *_header(facts, configs),
        "---",
        "",
        f"# {quiet(facts.title)}",
        "",
        *_lead(facts),
        "",
        "## Load it",
        "",
        *_loading(facts, configs, stem),
        "",
        *_ranking_models(facts, stem),
        "## What is in it",
        "",
        "| file | what it is |",
        "|---|---|",
        *(f"| `{path}` | {md(what)} |" for path, what in files),
        "",
        *_left_out(facts),
        *_columns(facts),
        "",
        "## Known limits",
        "",
        *(f"* {md(limit)}" for limit in known_limits(facts)),
        "",
        "All else, from the voters to the gold-standard checklist, stands in `datasheet.md`.",
        "",
        "## Licence and citation",
        "",
        quiet(facts.fields.licence_said if facts.fields.licence else "No licence was chosen yet: ask the owner."),
        "",
        quiet(facts.fields.citation or facts.fields.authors or "How to cite the dataset: not recorded."),
        "",
        md(f"Protocol and metrics: {REFERENCE}"),
    ]
    return ("\n".join(told) + "\n").encode("utf-8")


def yaml_text(text: str) -> str:
    """A text as a double-quoted YAML scalar: JSON's form, with what YAML can't print as escapes.

    >>> yaml_text('a "b": c')
    '"a \\\\"b\\\\": c"'
    """
    return "".join(
        char if char.isprintable() else f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
        for char in json.dumps(text, ensure_ascii=False)
    )


def _header(facts: Facts, configs: Mapping[str, Mapping[str, str]]) -> list[str]:
    n = len(facts.dataset)
    lines = [f"pretty_name: {yaml_text(facts.title)}"]
    if facts.fields.language:
        lines += ["language:", f"- {yaml_text(facts.fields.language.split('-')[0])}"]
    if facts.fields.licence:
        lines.append(f"license: {facts.fields.licence}")
    kind = "machine-generated" if facts.voters.n_simulated else "crowdsourced"
    lines += ["annotations_creators:", f"- {kind}", "task_categories:", "- sentence-similarity"]
    lines += ["size_categories:", f"- {next((name for most, name in _SIZES if n < most), _LARGE)}"]
    tags = ["word-similarity", facts.about["notion"], "pairwise-comparisons", "runoff"]
    lines += ["tags:", *(f"- {yaml_text(str(tag))}" for tag in tags), "configs:"]
    for name, splits in configs.items():
        lines += [f"- config_name: {name}", *(["  default: true"] if name == "default" else []), "  data_files:"]
        for split, path in splits.items():
            lines += [f"  - split: {split}", f"    path: {path}"]
    return lines


def _lead(facts: Facts) -> list[str]:
    about, voters = facts.about, facts.about["voters"]
    lines = [
        md(
            f"How {'related' if about['notion'] == 'relatedness' else 'similar'} two words or expressions are: "
            f"{len(facts.dataset):,} items of {len(facts.areas):,} areas, scored from {about['votes']:,} pairwise "
            f"votes of {voters['people']:,} people"
            + (f" and {voters['simulated']:,} simulated voters" if voters["simulated"] else "")
            + ". Higher scores are more "
            f"{'related' if about['notion'] == 'relatedness' else 'similar'}; the top is measured best."
        )
    ]
    if voters["simulated"]:
        lines += ["", "**It holds votes of simulated voters, and is no evidence about what people think.**"]
    if facts.is_provisional:
        lines += ["", "**Provisional: the collection isn't finished, and scores will change.**"]
    if facts.fields.purpose:
        lines += ["", quiet(facts.fields.purpose)]
    return lines


def _loading(facts: Facts, configs: Mapping[str, Mapping[str, str]], stem: str) -> list[str]:
    split = next(iter(configs["default"]))
    return [
        "The Parquet files lose nothing, whatever the tokens are:",
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        f'dataset = load_dataset("{stem}", split="{split}")  # the unpacked folder, or its name on the Hub',
        "```",
        "",
        "```python",
        "import pandas as pd",
        "",
        f'dataset = pd.read_parquet("{stem}/{configs["default"][split]}")',
        "```",
        "",
        *_loading_texts(facts, stem),
        f"Rank models by it: `python -m core evaluate {stem}.zip MODEL`. Compute every score again from the votes: "
        f"`python -m core replay {stem}.zip`.",
    ]


def _ranking_models(facts: Facts, stem: str) -> list[str]:
    """Between what ends a model's figure lies, and its share of that."""
    scales = [(ranking.area, scale) for ranking in facts.rankings for scale in ranking.scales]
    if not scales:
        return []
    rows = [
        f"| {md(area)} | {scale.figure} | {_three(scale.chance)} | {_three(scale.ceiling)} |"
        if len(facts.rankings) > 1
        else f"| {scale.figure} | {_three(scale.chance)} | {_three(scale.ceiling)} |"
        for area, scale in scales
    ]
    first = scales[0][1]
    area = "area | " if len(facts.rankings) > 1 else ""
    reasons = dict.fromkeys(f"{where}: {of.why_not}" if where else of.why_not for where, of in scales if of.why_not)
    draws = f"{first.n_permutations:,} permutations" + (f", {first.n_simulations:,} simulations" * bool(first.ceiling))
    return [
        "## Read a model's figure",
        "",
        md(
            "ρ_w and τ_w of a random ranking lie below 0, the further the more items there are, and noise in the votes "
            "keeps a perfect model from 1. So give beside a figure its share from chance (0) to the best that these "
            "votes allow (1), which isn't cut at either end, and is undefined where the best isn't above chance:"
        ),
        "",
        "    share = (figure − chance) / (best − chance)",
        "",
        f"| {area}figure | chance | best |",
        f"|{'---|' * (bool(area) + 3)}",
        *rows,
        "",
        f"At n₀ = 2, over all items, for a model whose scores don't tie ({draws}"
        f"{'; over all areas: the means' if area else ''}). `python -m core evaluate {stem}.zip MODEL` gives the share "
        "by the items and ties of a model.",
        "",
        *(line for reason in reasons for line in (md(f"–: {reason}"), "")),
    ]


def _three(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}".replace("-", "−")


def _loading_texts(facts: Facts, stem: str) -> list[str]:
    """How the CSV is read without losing tokens, and gensim's file."""
    numbers = [name for name in facts.dataset.columns if name not in _TEXTS]
    floats = [name for name in numbers if DATASET.columns.get(name) == "float"]
    tokens = {*facts.dataset["token_a"], *facts.dataset["token_b"]}
    lost = sorted(tokens & _TAKEN_FOR_MISSING)
    found = f"; here that would lose {len(lost):,} of {len(tokens):,} tokens ({', '.join(lost[:8])})" if lost else ""
    lines = [
        md(
            "By their defaults pandas, datasets and other readers of CSV take tokens such as null, NA or nan for "
            f"missing values, and 007 for a number{found}. So say what is text:"
        ),
        "",
        "```python",
        "import pandas as pd",
        "",
        "dataset = pd.read_csv(",
        f'    "{stem}/dataset.csv",',
        "    dtype={" + ", ".join(f'"{name}": str' for name in _TEXTS) + "},",
        "    keep_default_na=False,",
        f'    na_values=dict.fromkeys({json.dumps(numbers)}, ""),',
        ")",
        "```",
        "",
        "```python",
        "import pyarrow as pa",
        "from pyarrow import csv",
        "",
        "table = csv.read_csv(",
        f'    "{stem}/dataset.csv",',
        "    parse_options=csv.ParseOptions(newlines_in_values=True),",
        "    convert_options=csv.ConvertOptions(",
        "        column_types={",
        "            " + ", ".join(f'"{name}": pa.string()' for name in _TEXTS) + ",",
        f"            **dict.fromkeys({json.dumps(floats)}, pa.float64()),",
        "        },",
        "        strings_can_be_null=False,",
        "    ),",
        ")",
        "```",
        "",
        'The same goes for the tables in `campaign/`, and with `sep="\\t"`, `delimiter="\\t"` for those in `formats/`.',
        "",
    ]
    if "formats/gensim.tsv" not in facts.left_out_formats:
        lines += [
            "```python",
            "from gensim.models import KeyedVectors",
            "",
            'model = KeyedVectors.load_word2vec_format("model.vec")',
            f'model.evaluate_word_pairs("{stem}/formats/gensim.tsv", case_insensitive=False)',
            "```",
            "",
        ]
    return lines


def _left_out(facts: Facts) -> list[str]:
    """Files that could not hold these tokens, with the reason."""
    told = [f"* Not in it: {path}. {md(why)}" for path, why in facts.left_out_formats.items()]
    return [*told, ""] if told else []


def _columns(facts: Facts) -> list[str]:
    ranked = "rank_lower" in facts.dataset
    return [
        "Columns: `area`, `token_a`, `token_b` (an unordered pair), `score` (higher = more related, or similar), "
        "`rank` (1 is the top, ties share their average rank), `lower` and `upper` (90 % interval of the score over "
        "voters), `votes`, `ballots`"
        + (", `rank_lower` and `rank_upper` (90 % interval of the rank)." if ranked else ".")
    ]
