"""Errors that a person can act on.

Every message says what went wrong, where (file, row, field), what was found there and what to do.
Pages and the command line catch `RunoffError` and show the message as it is; anything else is a
fault of the program.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Issue:
    """One thing wrong with an input.

    `row` is the line a spreadsheet shows (the header is row 1), None when the whole file is meant;
    `column` is the field's name, None when the whole row is meant; `found` is the offending text.
    """

    message: str
    row: int | None = None
    column: str | None = None
    found: str | None = None

    def __str__(self) -> str:
        where = [f"row {self.row}" if self.row is not None else "", f"column {self.column}" if self.column else ""]
        prefix = ", ".join(part for part in where if part)
        found = f" (found {self.found!r})" if self.found is not None else ""
        return f"{prefix}: {self.message}{found}" if prefix else f"{self.message}{found}"


class RunoffError(Exception):
    """Base of every error that is meant to be read by a person."""


class InputError(RunoffError, ValueError):
    """Input that can't be used. Carries all the issues found, not only the first."""

    def __init__(self, message: str, issues: Iterable[Issue] = ()) -> None:
        super().__init__(message)
        self.issues = tuple(issues)

    def __str__(self) -> str:
        head = super().__str__()
        shown = [str(issue) for issue in self.issues[:5]]
        rest = len(self.issues) - len(shown)
        if rest > 0:
            shown.append(f"and {rest} more")
        return head if not shown else head + " " + "; ".join(shown) + "."


class PlanError(RunoffError, ValueError):
    """A plan that no campaign could follow."""


class DisconnectedError(RunoffError, ValueError):
    """Scores were asked for over parts that no comparison joins; `parts` has the positions of each part's items."""

    def __init__(self, message: str, parts: Iterable[tuple[int, ...]] = ()) -> None:
        super().__init__(message)
        self.parts = tuple(parts)


class NotConvergedError(RunoffError, ArithmeticError):
    """An iterative fit stopped before its stopping rule held."""


class UndefinedMetricError(RunoffError, ValueError):
    """A metric that has no value for this input; the message says why."""


class StoreError(RunoffError):
    """The workspace can't do what was asked, and is as it was before."""


class BusyError(StoreError):
    """Another writer has the database; the same can be asked again in a moment, as nothing was done."""


class StaleError(StoreError):
    """The project changed since the page was drawn, so the command was not carried out."""


class PlatformError(RunoffError):
    """A crowd platform can't be reached, or refuses; the message says what to do."""
