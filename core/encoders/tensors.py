"""Weights in a file of the format safetensors: eight bytes of length, a JSON header, then numbers. No code is run.

Reference: https://huggingface.co/docs/safetensors (the format's description).
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from ..errors import InputError

MOST_HEADER = 100_000_000
TYPES: dict[str, np.dtype] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype("<u2"),
}


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """The floating-point arrays of a file by name, as float32; others, such as position numbers, are left out.

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
        return {name: _array(body, entry) for name, entry in header.items() if entry["dtype"] in TYPES}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path} is no whole file of weights (safetensors): {error}. Copy the model again.") from error


def _check_apart(spans: list[list[int]]) -> None:
    """Raise ValueError where arrays share bytes: many names for the same few would fill the memory."""
    end = 0
    for start, following in sorted(spans):
        if start < end:
            raise ValueError(f"two arrays share the byte {start}")
        end = max(end, following)


def _array(body: np.ndarray, entry: dict) -> np.ndarray:
    start, end = entry["data_offsets"]
    kind = TYPES[entry["dtype"]]
    if not 0 <= start <= end <= len(body):
        raise ValueError(f"an array from byte {start} to {end} of {len(body)}")
    values = np.frombuffer(body[start:end].tobytes(), dtype=kind).reshape(entry["shape"])
    if entry["dtype"] == "BF16":  # the upper half of a float32
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values.astype(np.float32)
