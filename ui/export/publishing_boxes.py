"""What only the owner can say of the dataset, in one form; and its versions: released, downloaded, compared."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.base.durable import slug
from core.base.numbers_in_words import many
from core.commands.projects import ReleaseVersion
from core.dataset.datasheet.facts import LICENCES, MAX_LINE, MAX_TEXT, SheetFields
from core.errors import RunoffError
from core.store.projects.project_commands import Project
from core.store.projects.releases import MAX_NOTE, check_is_new, release_bytes, save_fields
from core.views.export import NOW, ExportView, diff_lines
from core.views.wording import moment
from ui.shared import cache, choosers, frame, jobs

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
        about = "All figures come from the project; what nobody recorded is marked as such."
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


# Marks of a version, by their names in its description.
_MARKS = ("provisional", "simulated")


def releases_box(project: Project, view: ExportView, model_answers: bool) -> None:
    """The versions, and a form for the next."""
    st.subheader("Versions")
    for release in view.releases:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.download_button(
                f"Version {release.version}",
                partial(release_bytes, frame.store(), release),
                f"{slug(project.name)}-{release.version}.zip",
                "application/zip",
                key=f"release-{release.id}",
                icon=":material/download:",
                on_click="ignore",
            )
            figures = f"{many(release.detail.get('items', 0), 'item')}, {many(release.detail.get('votes', 0), 'vote')}"
            marks = [mark for mark in _MARKS if release.detail.get(mark)]
            description = ", ".join([f"{moment(release.at)} UTC", figures, *marks])
            st.caption(frame.plain(f"{description}. {release.note}" if release.note else description))
    if not view.releases:
        st.caption("None yet. A released version is kept byte for byte, whatever happens to the project.")
    _release(project, view, model_answers)
    if view.releases:
        _compare(project, view)


def _release(project: Project, view: ExportView, model_answers: bool) -> None:
    with st.expander("Release a version"), st.form(f"release-{project.id}-{len(view.releases)}"):
        if view.fields.missing:
            lacking = ", ".join(view.fields.missing)
            st.caption(f"The datasheet still lacks: {lacking}.")
        version = st.text_input("Version", placeholder="1.0", max_chars=40, help="Once used, it can't be used again.")
        note = st.text_area("What is new", max_chars=MAX_NOTE, height=80)
        if st.form_submit_button("Release"):
            try:
                name = check_is_new(frame.store(), project.id, version)
            except RunoffError as error:
                frame.show_error(error)
                return
            jobs.send(ReleaseVersion(project.id, frame.expected(), name, note, model_answers))


def _compare(project: Project, view: ExportView) -> None:
    names = view.releases_by_id
    with st.expander("What changed between two versions"):
        left, right = st.columns(2)
        newest = next(id_ for id_ in names if id_ != NOW)
        keys = {"from": f"diff-from-{project.id}", "to": f"diff-to-{project.id}"}
        before = choosers.selectbox("From", names, newest, key=keys["from"], apart=_a_release, place=left)
        after = choosers.selectbox("To", names, key=keys["to"], apart=_a_release, place=right)
        if before == after:
            st.caption("Choose two different versions.")
            return
        if not st.toggle("Compare them", key=f"diff-{project.id}"):
            return
        try:
            changes = cache.load_diff(frame.store(), project, before or NOW, after or NOW)
        except RunoffError as error:
            frame.show_error(error)
            return
        if changes.same:
            st.markdown("**The same items with the same scores.**")
        lines = diff_lines(changes)
        st.dataframe(lines, hide_index=True, alt="What changed, in numbers")
        if changes.n_ranks_moved:
            _items(changes.moved, "Moved furthest")
        _items(changes.added, "Added")
        _items(changes.removed, "Removed")


def _a_release(id_: int) -> str:
    return "" if id_ == NOW else "a release"


def _items(table: pd.DataFrame, label: str) -> None:
    if len(table):
        st.caption(label)
        rows, alt = table.head(100), f"{label}: the items"
        st.dataframe(rows, hide_index=True, height=240, alt=alt)
