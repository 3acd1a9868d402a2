"""Words that aren't in the encoding they are read in: mended, and listed."""

from __future__ import annotations

import pyarrow as pa

from .options import Options

_N_SHOWN = 5


def texts_of(words: list[bytes], options: Options, broken: list[str]) -> pa.StringArray:
    """The words as text; those that aren't in the encoding get U+FFFD and are put on the list `broken`."""
    if options.codec == "utf-8":
        try:
            return pa.array(words, pa.binary()).cast(pa.string())
        except pa.ArrowInvalid:
            pass
    texts = []
    for word in words:
        try:
            texts.append(word.decode(options.codec))
        except UnicodeDecodeError:
            texts.append(word.decode(options.codec, "replace"))
            broken.append(texts[-1])
    return pa.array(texts, pa.string())


def note_broken(broken: list[str], options: Options, notes: list[str]) -> None:
    """Add a remark on the words that were mended, if there are any."""
    if broken:
        shown = ", ".join(repr(text) for text in broken[:_N_SHOWN])
        notes.append(f"words that aren't valid {options.codec.upper()}, mended with U+FFFD: {len(broken):,} ({shown})")
