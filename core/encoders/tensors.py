"""Files of the format safetensors: eight bytes of length, a JSON header, then numbers. No code is run.

Reference: https://huggingface.co/docs/safetensors (the format's description).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

MOST_HEADER = 100_000_000  # bytes of a file's header
FLOATS: Mapping[str, np.dtype] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype("<u2"),
}
INTEGERS: Mapping[str, np.dtype] = {
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I16": np.dtype("<i2"),
    "I8": np.dtype("i1"),
    "U8": np.dtype("u1"),
}


@dataclass(frozen=True, eq=False)
class Tensor:
    """One array of a file, memory-mapped as it is stored; `kind` is the format's name of its numbers."""

    kind: str
    stored: np.ndarray = field(repr=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """Its lengths."""
        return self.stored.shape

    def floats(self, rows: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
        """All of it, or some rows, as float32."""
        taken = self.stored if rows is None else self.stored[rows]
        if self.kind == "BF16":  # the upper half of a float32
            return (taken.astype(np.uint32) << 16).view(np.float32)
        return np.array(taken, dtype=np.float32)


def open_tensors(path: Path) -> dict[str, Tensor]:
    """The arrays of a file by name, memory-mapped; those of kinds that aren't read are left out.

    Raises `InputError` for a file that isn't of the format, or not whole.
    """
    try:
        held = np.memmap(path, dtype=np.uint8, mode="r")
        length = int.from_bytes(held[:8].tobytes(), "little")
        if len(held) < 8 or not 2 <= length <= min(MOST_HEADER, len(held) - 8):
            raise ValueError(f"a header of {length} bytes in a file of {len(held)}")
        header = json.loads(held[8 : 8 + length].tobytes())
        header.pop("__metadata__", None)
        body = held[8 + length :]
        _check_apart([entry["data_offsets"] for entry in header.values()])
        read = {**FLOATS, **INTEGERS}
        return {
            name: Tensor(entry["dtype"], _array(body, entry, read[entry["dtype"]]))
            for name, entry in header.items()
            if entry["dtype"] in read
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path} is no whole file of weights (safetensors): {error}. Copy the model again.") from error


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """The floating-point arrays of a file by name, as float32; others, such as position numbers, are left out.

    Raises as `open_tensors` does.
    """
    return {name: tensor.floats() for name, tensor in open_tensors(path).items() if tensor.kind in FLOATS}


def _check_apart(spans: list[list[int]]) -> None:
    """Raise ValueError where arrays share bytes: many names for the same few would fill the memory."""
    end = 0
    for start, following in sorted(spans):
        if start < end:
            raise ValueError(f"two arrays share the byte {start}")
        end = max(end, following)


def _array(body: np.ndarray, entry: dict, kind: np.dtype) -> np.ndarray:
    start, end = entry["data_offsets"]
    if not 0 <= start <= end <= len(body):
        raise ValueError(f"an array from byte {start} to {end} of {len(body)}")
    return np.frombuffer(body[start:end], dtype=kind).reshape(entry["shape"])
