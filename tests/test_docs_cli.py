"""Every command is in docs/cli.md, with every option but of those that lead to their own --help."""

from __future__ import annotations

import re
from pathlib import Path

from core.__main__ import cli

DOCS = (Path(__file__).resolve().parents[1] / "docs" / "cli.md").read_text(encoding="utf-8")
SECTIONS = {part.split()[0]: part for part in re.split(r"(?m)^## ", DOCS)[1:]}

HELPED = {"simulate", "import-archived"}  # whose section leads to --help


def test_every_command_has_a_section() -> None:
    assert set(cli.commands) == set(SECTIONS)


def test_every_option_is_named() -> None:
    missing = [
        f"{name} {option}"
        for name in sorted(set(cli.commands) - HELPED)
        for parameter in cli.commands[name].params
        for option in parameter.opts
        if option[:2] == "--" and not re.search(rf"`{option}\b", SECTIONS[name])
    ]
    assert missing == []
