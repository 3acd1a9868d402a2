"""Words as R's write.table and the like leave them: in quotation marks, after numbers of rows. Told by a file's
beginning, taken off all of its words, and said."""

from __future__ import annotations

import re
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError

_NUMBERED = r'^("[0-9]{1,18}"|[0-9]{1,18})[ \t]+'
_MARKED = r'^".+"$'
_ESCAPED = ('\\"', '""')  # R's two ways to write a mark within marks
_N_SHOWN = 5


class Undressed:
    """Takes off words what stands around all of them: `dress` is that of `Recognised`. Called with one block of words
    after the other."""

    def __init__(self, name: str, dress: str) -> None:
        self._name, self._dress = name, dress
        self._n_kept, self._kept = 0, list[str]()

    def __call__(self, words: pa.StringArray) -> pa.StringArray:
        """The words without it; raises `InputError` for one that has no number of its row where all should."""
        if "numbers" in self._dress:
            numbered = pc.match_substring_regex(words, _NUMBERED)
            others = words.filter(pc.invert(numbered))
            if len(others):
                odd = others[0].as_py()
                raise InputError(
                    f"{self._name}: the first words stand after the numbers of their rows, {odd[:40]!r} doesn't. Write "
                    "the file without a column of row numbers (in R: row.names = FALSE)."
                )
            words = pc.replace_substring_regex(words, _NUMBERED, "")
        marked = pc.match_substring_regex(words, _MARKED)
        if "quotes" in self._dress:
            inner = pc.utf8_slice_codeunits(words, 1, -1)
            one, other = (pc.replace_substring(inner, escaped, '"') for escaped in _ESCAPED)
            inner = pc.if_else(pc.match_substring(inner, _ESCAPED[0]), one, other)
            words = pc.if_else(marked, inner, words)
            marked = pc.invert(marked)
        self._keep(words.filter(marked))
        return words

    def _keep(self, words: pa.StringArray) -> None:
        self._n_kept += len(words)
        self._kept += words[: _N_SHOWN - len(self._kept)].to_pylist()

    def note(self, notes: list[str]) -> None:
        """Add a remark on words that aren't as the others, if there are any."""
        if self._n_kept:
            stand = "without quotation marks" if "quotes" in self._dress else "in quotation marks, which are kept"
            shown = ", ".join(self._kept)
            notes.append(f"words that stand {stand}: {self._n_kept:,} ({shown})")


def without_marks(lines: list[str]) -> list[str] | None:
    """The words of lines that all are in quotation marks, perhaps after the numbers of their rows; None for others."""
    numbered = [re.match(_NUMBERED, line) for line in lines]
    rows = [int(match[1].strip('"')) for match in numbered if match]
    if len(lines) > 1 and len(rows) == len(lines) and all(after == before + 1 for before, after in pairwise(rows)):
        lines = [line[match.end() :] for line, match in zip(lines, numbered, strict=True) if match]
    elif not all(re.fullmatch(_MARKED, line) for line in lines):
        return None
    if len(lines) < 2:
        return None
    if all(re.fullmatch(_MARKED, line) for line in lines):
        lines = [line[1:-1].replace(_ESCAPED[_ESCAPED[0] not in line[1:-1]], '"') for line in lines]
    return lines
