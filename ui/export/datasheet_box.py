"""What only the owner can say of the dataset: one form."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.dataset.datasheet.facts import LICENCES, MAX_LINE, MAX_TEXT, SheetFields
from core.store.projects.project_commands import Project
from core.store.projects.releases import save_fields
from ui.shared import choosers, frame

_LONG = (
    ("purpose", "What it is for", "Who needs it, what it should and shouldn't be used for."),
    ("token_source", "Where the tokens come from", "Who made the lists, from which texts, by which rules."),
    ("voters_note", "Who the voters are", "How they were found, and who could take part."),
    ("consent", "Consent and ethics", "What voters were told and agreed to; a board's approval, if there is one."),
    ("funding", "Funding", "Who paid for it."),
    ("citation", "How to cite it", "Empty: authors, title and version."),
)


def datasheet_box(project: Project, fields: SheetFields) -> None:
    """The owner's fields; everything else in the datasheet comes from the project."""
    missing = ", ".join(fields.missing)
    with st.expander("What the datasheet says in your words"):
        about = "All figures come from the project; what nobody recorded is called so."
        st.caption(f"{about} Still empty: {missing}." if missing else about)
        with st.form(f"datasheet-{project.id}"):
            left, right = st.columns(2)
            values: dict[str, Any] = {
                "title": left.text_input("Title", fields.title, placeholder=project.name, max_chars=MAX_LINE),
                "authors": right.text_input("Authors", fields.authors, max_chars=MAX_LINE),
                "licence": choosers.selectbox(
                    "Licence",
                    {key: words for key, (words, *_) in LICENCES.items()},
                    fields.licence,
                    key=f"licence-{project.id}-{fields.licence}",
                    place=left,
                    help="What others may do with it. Without one, nothing is allowed.",
                ),
                "licence_note": right.text_input("Licence note", fields.licence_note, max_chars=MAX_LINE),
                "language": left.text_input(
                    "Language of the tokens", fields.language, placeholder="en", help="A tag such as en, it or pt-BR."
                ),
                "contact": right.text_input("Contact", fields.contact, max_chars=MAX_LINE),
            }
            for name, label, hint in _LONG:
                values[name] = st.text_area(label, getattr(fields, name), max_chars=MAX_TEXT, height=80, help=hint)
            values |= _split(fields)
            if st.form_submit_button("Save the datasheet"):
                frame.carry_out(
                    save_fields,
                    frame.store(),
                    project.id,
                    SheetFields(**values),
                    expected_revision=frame.expected(),
                    done="The datasheet is saved.",
                )


def _split(fields: SheetFields) -> dict[str, float | int]:
    """The share of tokens that dev gets, 0 for no split."""
    share = st.number_input(
        "Share of the tokens for a part to tune on (dev)",
        0.0,
        0.9,
        fields.dev_share,
        0.05,
        help=(
            "0: one part, test. Else each area's tokens are drawn into dev and test, and items with "
            "a token in each are left out of both, so that no token is in both. At a share p about p² of the items are "
            "in dev, (1 − p)² in test."
        ),
    )
    seed = st.number_input("Seed of that draw", 0, 2**31 - 1, fields.split_seed, 1)
    return {"dev_share": float(share), "split_seed": int(seed)}
