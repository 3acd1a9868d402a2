"""Crowd platforms: tasks go out as a batch file and a template, votes come back as a result file.

`write_batch` writes the file, `template` the page that shows a task, `read_results` reads what comes back, from
whichever platform: it is recognised by its columns, never by the file's name. One module a platform;
`PLATFORMS` lists those that have columns of their own, `presets.PRESETS` those that are read by a mapping.
"""

from __future__ import annotations

from dataclasses import replace

from ..errors import InputError, Issue
from ..questions.comparison_page import render_preview, template, write_batch
from ..tabular import SourceTable, same_name
from ..votes.meanings import OpenQuestionsError, ValueQuestion, with_choices
from ..votes.platform import Outgoing, Platform, PlatformFile, ResultFile
from .label_studio import LABEL_STUDIO
from .mapped_tables import Mapping, of_server, read_mapped
from .mturk import MTURK, normalised
from .plain import PLAIN, write_comparisons
from .presets import PRESETS, guess, open_results, preset_mapping, preset_of
from .prolific import PROLIFIC
from .turkle import TURKLE

PLATFORMS: tuple[Platform, ...] = (TURKLE, MTURK, LABEL_STUDIO, PROLIFIC, PLAIN)
LABELS = (
    {platform.name: platform.label for platform in PLATFORMS}
    | {preset.name: preset.label for preset in PRESETS}
    | {"table": "Table, columns named by hand"}
)


class UnnamedColumnsError(InputError):
    """A table whose columns are no platform's own: somebody must say which is which."""


def read_results(data: bytes, filename: str, mapping: Mapping | None = None) -> ResultFile:
    """Read a result file of any platform in `PLATFORMS` or `PRESETS`, or one whose columns a `mapping` names.

    It may be CSV, an Excel workbook, JSON, or JSON line by line. Encoding, delimiter and line ends are found by
    looking; names of columns match in any case; rows that a platform leaves two fields short are whole, rows that are
    cut are counted as unreadable; character references in `Input.*` are undone.

    Parameters: `data`, the file's bytes; `filename`, for messages only.
    Returns a `ResultFile`. Raises `InputError` where the file is of another kind or lacks columns; it names
    them and says where the right file is.
    """
    return read_opened_results(open_results(data, filename), mapping)


def read_opened_results(table: SourceTable, mapping: Mapping | None = None) -> ResultFile:
    """Read an opened result file, as `read_results`."""
    mapping = mapping or Mapping()
    if mapping.named():
        return read_mapped(normalised(table), mapping)
    columns = set(map(same_name, table.header))
    preset = preset_mapping(table)
    for platform in (TURKLE, MTURK, PROLIFIC):
        if platform.recognises(columns):
            return _with_meanings(platform.read(table, mapping), mapping)
    if preset is not None:
        return read_mapped(table, preset.saying(mapping))
    if PLAIN.recognises(columns):
        return _with_meanings(PLAIN.read(table, mapping), mapping)
    raise _unknown(table, columns)


def _with_meanings(found: ResultFile, said: Mapping) -> ResultFile:
    """A file of a platform's own columns with what a person said of its choices and of the server it is from."""
    answers = found.answers.assign(choice=with_choices(found.answers["choice"], said))
    of_server(answers, said, found.platform)
    return replace(found, answers=answers)


def _unknown(table: SourceTable, columns: set[str]) -> InputError:
    """Why a table can't be read as it is."""
    platform = preset_of(table.header)
    if platform is not None and not guess(table).choice:
        return UnnamedColumnsError(
            f"{table.name} is an export of {platform.label}, and none of its columns holds a choice. If nobody has "
            "answered yet, export it again once people have; else say which column holds the choice."
        )
    if platform is not None:
        lacking = ", ".join(("comparison_id", "or left_a, left_b, right_a, right_b"))
        return UnnamedColumnsError(
            f"{table.name} is an export of {platform.label} of tasks that Runoff didn't make: none of its columns says "
            f"which comparison a row is of ({lacking}). Say which column is which, or take these columns along when "
            "the tasks are made."
        )
    needed = ("AssignmentId", "WorkerId", "Input.left_a", "Answer.choice")
    missing = [name for name in needed if name.casefold() not in columns]
    readable = [platform for platform in PLATFORMS if platform is not PROLIFIC]
    hints = " ".join(platform.download_hint for platform in readable)
    return UnnamedColumnsError(
        f"{table.name} is not a result file of {' or '.join(platform.label for platform in readable)}: "
        f"it lacks the columns {', '.join(missing)}. {hints} Of any other table, say which column is which.",
        [Issue("column is missing", column=name) for name in missing],
    )


__all__ = [
    "LABELS",
    "PLATFORMS",
    "Mapping",
    "OpenQuestionsError",
    "Outgoing",
    "Platform",
    "PlatformFile",
    "ValueQuestion",
    "ResultFile",
    "SourceTable",
    "UnnamedColumnsError",
    "guess",
    "open_results",
    "read_results",
    "read_opened_results",
    "render_preview",
    "template",
    "normalised",
    "write_batch",
    "write_comparisons",
]
