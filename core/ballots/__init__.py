"""A ballot drawn: random graphs, sides, tasks, who meets whom, who goes on, and checks among the comparisons."""

from __future__ import annotations

from .draw import draw_comparisons

__all__ = ["draw_comparisons"]
