"""What an extra of pyproject.toml asks for: `python -m tests.requirements dev` prints it for `pip install -r`.

So an environment gets what Runoff needs without Runoff itself, which runs from the checkout.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]


def extra(name: str) -> Iterator[str]:
    """The requirements of an extra; of one that it holds (`runoff[…]`) those of that one."""
    for line in EXTRAS[name]:
        if line.startswith("runoff["):
            for other in line.removeprefix("runoff[").removesuffix("]").split(","):
                yield from extra(other)
        else:
            yield line


if __name__ == "__main__":
    print(*(line for name in sys.argv[1:] for line in extra(name)), sep="\n")
