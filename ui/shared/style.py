"""How pages look: room under a finger, words on dark grounds, and paper."""

from __future__ import annotations

import streamlit as st

# Under a finger Streamlit's buttons of a table or chart are always there, and would lie on the words above it. The room
# goes on top of a height that is set, or the table would lie on the words below it.
_TOUCHED = """<style>
@media (hover: none) {
  [data-testid="stElementContainer"]:has(> [data-testid="stFullScreenFrame"] [data-testid="stElementToolbar"]) {
    box-sizing: content-box; padding-top: 2.25rem
  }
}
</style>"""
# On paper the way through the pages says nothing, and would take a quarter of every sheet.
_PRINTED = """<style>
@media print {
  [data-testid="stSidebar"], [data-testid="stHeader"], [data-testid="stSidebarCollapsedControl"] {display: none}
  [data-testid="stMainBlockContainer"] {padding: 0; max-width: none}
  [data-testid="stVegaLiteChart"], [data-testid="stDataFrame"], [data-testid="stAlert"] {break-inside: avoid}
  :is(h1, h2, h3, h4, h5) {break-after: avoid}
}
</style>"""
# Streamlit leaves 96 pixels above the title, of which its bar takes 60; and a phone holds one more column of a table
# whose cells wrap.
_COMPACT = """<style>
[data-testid="stMainBlockContainer"] {padding-top: 4rem; padding-bottom: 4rem}
@media (max-width: 640px) {
  [data-testid="stTable"] :is(th, td) {
    padding-left: .3rem !important; padding-right: .2rem !important; font-size: .85rem
  }
}
</style>"""
# As high as the headline of the Evaluate page with the bar below it: what stands under it stays where it is when the
# bar goes and the headline changes.
_WAITED = """<style>
.st-key-evaluate-waited {min-height: 6.7rem}
@media (max-width: 640px) {.st-key-evaluate-waited {min-height: 13.5rem}}
</style>"""
# Browsers leave grounds out, so that the light words of the dark theme would be printed on white.
_DARK_PRINTED = """<style>
@media print {[data-testid="stApp"] {filter: invert(1) hue-rotate(180deg)}}
</style>"""
# White on the dark theme's blue would be 2.5 : 1.
_DARK_BUTTONS = """<style>
[data-testid^="stBaseButton-primary"] :is(p, span) {color: #0b1a27}
</style>"""


def readable() -> None:
    """Dark words on the bright primary buttons of the dark theme; room for what tables and charts show on a phone, and
    for what comes later; pages that can be printed."""
    st.html(_COMPACT + _TOUCHED + _PRINTED + _WAITED)
    if st.context.theme.type == "dark":
        st.html(_DARK_BUTTONS + _DARK_PRINTED)
