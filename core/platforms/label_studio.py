"""Label Studio: the labelling interface and the tasks go out, exports as JSON, JSON-MIN or CSV come back.

A task there is one comparison. Its pairs are two texts, `left` and `right`, between which `<Pairwise>` chooses; “equal”
and “I don't know a word here” are a choice of their own below them. The data of a task keeps the comparison's id and
the four tokens, so that a vote is known again whatever the task's number there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

import pandas as pd

from ..errors import InputError
from ..i18n import language
from ..questions.comparison_page import FIELDS, NOTIONS, TIE_LABELS, UNKNOWN, paragraphs_of
from ..tabular import SourceTable
from ..votes.meanings import ValueMeanings
from ..votes.platform import Outgoing, PlatformFile, ResultFile
from .mapped_tables import read_mapped
from .plain import comparison_ids

CHOICE, OTHER = "choice", "other"  # the names of the two controls
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # what XML can't hold


@dataclass(frozen=True)
class LabelStudio:
    """A project of Label Studio with the labelling interface that Runoff writes."""

    name: str = "labelstudio"
    label: str = "Label Studio"
    download_hint: str = "In Label Studio, the right file is Export › JSON (or JSON-MIN, or CSV) of Runoff's tasks."
    steps: tuple[str, ...] = (
        "Make a project in Label Studio; under Settings › Labeling Interface › Code, paste the labelling interface.",
        "Import the tasks (JSON). Each is one comparison.",
        "Set how many annotators a task gets, or let one person annotate all.",
        "Export as JSON, JSON-MIN or CSV and upload the file under 2.",
    )

    def files(self, ballot: Outgoing) -> tuple[PlatformFile, ...]:
        """The labelling interface and the tasks."""
        tasks = "Tasks of the comparisons without a vote (JSON)" if ballot.is_top_up else "Tasks (JSON)"
        return (
            PlatformFile(
                f"{ballot.code}-label-studio.xml",
                "Labelling interface (XML)",
                "What annotators see: the question, the two pairs, and below them equal and “I don’t know”.",
                "application/xml",
                lambda: write_config(ballot).encode("utf-8"),
            ),
            PlatformFile(
                f"{ballot.part}-label-studio.json",
                tasks,
                "One comparison per task. The sides are as drawn: left and right are recorded.",
                "application/json",
                lambda: write_tasks(ballot.asked()),
            ),
        )

    def recognises(self, columns: Collection[str]) -> bool:
        """A CSV export of tasks that Runoff made."""
        return {"comparison_id", "annotation_id", "annotator"} <= set(columns)

    def read(self, file: SourceTable, said: ValueMeanings) -> ResultFile:
        """Read an export by its preset. Raises `InputError` where its tasks are not Runoff's."""
        from .presets import preset_mapping

        mapping = preset_mapping(file)
        if mapping is None:
            raise InputError(
                f"{file.name} is a Label Studio export of tasks that Runoff didn't make: they don't say which "
                "comparison they are. Say which column is which."
            )
        return read_mapped(file, mapping.saying(said))


def write_config(ballot: Outgoing) -> str:
    """The labelling interface: the wording, the examples, the two pairs, and the answers that choose neither."""
    spoken = language(ballot.wording.language)
    question, explained = map(spoken.text, NOTIONS[ballot.notion])
    paragraphs = paragraphs_of(ballot.wording.instructions or explained)
    choices = [("tie", TIE_LABELS[ballot.notion])] if ballot.ties_allowed else []
    options = "".join(
        f"    <Choice value={_attribute(spoken.text(text))} alias={_attribute(value)}/>\n"
        for value, text in [*choices, ("unknown", UNKNOWN)]
    )
    lines = [" ".join(part.split()) for part in paragraphs]
    for example in ballot.wording.examples:
        pairs = " | ".join(" – ".join(pair) for pair in (example.left, example.right))
        answer = {"left": " – ".join(example.left), "right": " – ".join(example.right)}
        solution = answer.get(example.answer) or spoken.text("both equally")
        shown = spoken.text("Example: {pairs}. Answer: {answer}.", pairs=pairs, answer=solution)
        lines.append(f"{shown} {example.why}".strip())
    headers = "".join(f'  <Header size="5" value={_attribute(text)}/>\n' for text in lines)
    return (
        "<View>\n"
        f"  <Header value={_attribute(ballot.wording.question or question)}/>\n{headers}"
        f'  <Pairwise name="{CHOICE}" toName="left,right"/>\n'
        '  <Text name="left" value="$left"/>\n  <Text name="right" value="$right"/>\n'
        f'  <Choices name="{OTHER}" toName="left" choice="single-radio" showInLine="true">\n{options}  </Choices>\n'
        "</View>\n"
    )


def write_tasks(comparisons: pd.DataFrame) -> bytes:
    """The tasks for Label Studio's import, one comparison each (`comparisons` is a table of schema COMPARISONS).

    UTF-8; texts stand as they are, since Label Studio shows them as texts. Raises `InputError` for no comparison.
    """
    if comparisons.empty:
        raise InputError("There is no comparison to ask for: each has its votes.")
    frame = comparisons[list(FIELDS)].assign(comparison_id=comparison_ids(comparisons))
    for side in ("left", "right"):
        frame[side] = frame[f"{side}_a"] + " – " + frame[f"{side}_b"]
    order = ["comparison_id", "left", "right", *FIELDS]
    tasks = [{"data": record} for record in frame[order].to_dict("records")]
    return (json.dumps(tasks, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")


def _attribute(text: str) -> str:
    """A text as an XML attribute; `$` would begin a variable of the task's data."""
    return quoteattr(_UNPRINTABLE.sub("\ufffd", text).replace("$", "\uff04"))


LABEL_STUDIO = LabelStudio()
