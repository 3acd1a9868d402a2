"""Other schemes had a page of their own up to version 0.6: its address leads to where the project's rounds are now,
else to the plan, where kinds of question are chosen and compared."""

from __future__ import annotations

from ui.shared import cache, frame

project = frame.project()
rounds = [one for found in cache.load_standings(frame.store(), project) for one in found.asked.rounds]
if rounds:
    frame.lead_on("collect", kind=rounds[-1].scheme)
frame.lead_on("plan")
