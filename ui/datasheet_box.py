"""What only the owner can say of the dataset: one form."""

from __future__ import annotations

import streamlit as st

from core.datasheet.fields import LICENCES, MAX_LINE, MAX_TEXT, SheetFields
from core.spoken import say, to_say
from core.store.projects import Project
from core.store.sheets import save_fields
from ui import choosers, frame

_LONG = (
    ("purpose", to_say("What it is for"), to_say("Who needs it, what it should and shouldn't be used for.")),
    (
        "token_source",
        to_say("Where the tokens come from"),
        to_say("Who made the lists, from which texts, by which rules."),
    ),
    ("voters_note", to_say("Who the voters are"), to_say("How they were found, and who could take part.")),
    (
        "consent",
        to_say("Consent and ethics"),
        to_say("What voters were told and agreed to; a board's approval, if there is one."),
    ),
    ("funding", to_say("Funding"), to_say("Who paid for it.")),
    ("citation", to_say("How to cite it"), to_say("Empty: authors, title and version.")),
)


def datasheet_box(project: Project, fields: SheetFields) -> None:
    """The owner's fields; everything else in the datasheet comes from the project."""
    missing = ", ".join(map(say, fields.missing))
    with st.expander(say("What the datasheet says in your words")):
        about = say("All figures come from the project; what nobody recorded is called so.")
        st.caption(f"{about} {say('Still empty: {fields}.', fields=missing)}" if missing else about)
        with st.form(f"datasheet-{project.id}"):
            left, right = st.columns(2)
            values = {
                "title": left.text_input(say("Title"), fields.title, placeholder=project.name, max_chars=MAX_LINE),
                "authors": right.text_input(say("Authors"), fields.authors, max_chars=MAX_LINE),
                "licence": choosers.selectbox(
                    say("Licence"),
                    {key: say(words) for key, (words, *_) in LICENCES.items()},
                    fields.licence,
                    key=f"licence-{project.id}-{fields.licence}",
                    place=left,
                    help=say("What others may do with it. Without one they may do nothing."),
                ),
                "licence_note": right.text_input(say("Licence note"), fields.licence_note, max_chars=MAX_LINE),
                "language": left.text_input(
                    say("Language of the tokens"),
                    fields.language,
                    placeholder="en",
                    help=say("A tag such as en, it or pt-BR."),
                ),
                "contact": right.text_input(say("Contact"), fields.contact, max_chars=MAX_LINE),
            }
            for name, label, hint in _LONG:
                values[name] = st.text_area(
                    say(label), getattr(fields, name), max_chars=MAX_TEXT, height=80, help=say(hint)
                )
            values |= _split(fields)
            if st.form_submit_button(say("Save the datasheet")):
                frame.carry_out(
                    save_fields,
                    frame.store(),
                    project.id,
                    SheetFields(**values),
                    expected_revision=frame.expected(),
                    done=say("The datasheet is saved."),
                )


def _split(fields: SheetFields) -> dict[str, float | int]:
    """The share of tokens that dev gets, 0 for no split."""
    share = st.number_input(
        say("Share of the tokens for a part to tune on (dev)"),
        0.0,
        0.9,
        fields.dev_share,
        0.05,
        help=say(
            "0: one part, test. Else each area's tokens are drawn into dev and test, and items with "
            "a token in each are left out of both, so that no token is in both. At a share p about p² of the items are "
            "in dev, (1 − p)² in test."
        ),
    )
    seed = st.number_input(say("Seed of that draw"), 0, 2**31 - 1, fields.split_seed, 1)
    return {"dev_share": float(share), "split_seed": int(seed)}
