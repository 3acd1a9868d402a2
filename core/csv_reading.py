"""CSV text from elsewhere, kept from becoming more cells than its table has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .errors import InputError

SPARE_CELLS = 100  # of a row beyond its columns: more than another version has, and few enough to be told


def bounded(lines: Iterable[str], most: int, where: str, delimiter: str = ",") -> Iterator[str]:
    """The lines as they are, for the csv module; `InputError` before it gets a row of more than `most` cells.

    It makes all cells of a row before it hands out the first, and a few kilobytes of a zip can hold millions.

    >>> list(bounded(["a,b\\n", '"c,d\\n', 'e",f\\n'], 2, "x.csv"))
    ['a,b\\n', '"c,d\\n', 'e",f\\n']
    """
    n_cells, number, quoted = 0, 0, False
    for line in lines:
        at = 0
        if not quoted:
            n_cells, number = 1, number + 1
            if '"' not in line:
                n_cells, at = 1 + line.count(delimiter), len(line)
        while at < len(line) and n_cells <= most:
            if not quoted and line[at] == '"':
                quoted, at = True, at + 1
            if quoted:
                end = line.find('"', at)
                if end < 0:
                    break
                if line.startswith('""', end):
                    at = end + 2
                    continue
                quoted, at = False, end + 1
            comma = line.find(delimiter, at)
            if comma < 0:
                break
            n_cells, at = n_cells + 1, comma + 1
        if n_cells > most:
            raise InputError(
                f"{where} has over {most:,} cells in row {number:,}. Fetch it again, or choose another file."
            )
        yield line
