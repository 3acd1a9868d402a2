"""The frame around every page: navigation, the chosen project, commands with their messages, and how pages look.

Badges say what is always so of what a page shows; nothing needs doing about it. A message stands at the top in a place
that is kept for it, and the page goes there: it moves nothing and covers nothing. The look gives room under a finger,
words on dark grounds, and paper.

What is pressed on a page must not be done to another project than the one that the page was drawn for. Widgets are
found again by their labels. So a button that was pressed on the page of one project is pressed on the page of another,
where that one is shown by then: chosen a moment before, by the browser's way back, or as the first one is gone. In such
a run the pages get a workspace that takes no changes (`frame.store`), whatever command it would be. Where the button
isn't on the page that is shown by then, the visitor is told all the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import streamlit as st

from core.base.durable import shown_path
from core.base.numbers_in_words import plural
from core.errors import InputError, RunoffError, StaleError
from core.store import Store, open_store
from core.store.projects.project_commands import Project, get_project, list_projects
from core.views.overview import RankingStatus
from ui.shared import choosers


class Badge(NamedTuple):
    """An icon, one or two words, and the sentence that explains them."""

    icon: str
    words: str
    about: str


SIMULATED = Badge(
    ":material/science:",
    "simulated votes",
    "Simulated voters gave some of these votes: they say how Runoff works, and nothing about people.",
)


def of_dataset(about: Mapping[Hashable, Any]) -> tuple[Badge, ...]:
    """Whether a dataset, by its description (its attrs), holds simulated votes, and whether it is provisional."""
    badges = [SIMULATED] if about["simulated_votes"] else []
    if about["provisional"]:
        words = plural(
            about["ballots_closed"],
            "provisional: {n} of {planned} ballots is closed",
            "provisional: {n} of {planned} ballots are closed",
            planned=about["ballots_planned"],
        )
        badges.append(Badge(":material/hourglass_top:", words, "An open ballot counts once it is closed."))
    return tuple(badges)


def show(*badges: Badge) -> None:
    """Each badge with its sentence as help."""
    for badge in badges:
        st.badge(badge.words, icon=badge.icon, color="gray", help=badge.about)


_HERE = Path(__file__).parent
_TOP = st.components.v2.component(
    "runoff_notice", html="<span></span>", js=(_HERE / "notice.js").read_text(encoding="utf-8")
)
_COPY = st.components.v2.component(
    "runoff_copy",
    html='<div class="copy"><button type="button"><span></span></button><span role="status"></span></div>',
    css=(_HERE / "copy.css").read_text(encoding="utf-8"),
    js=(_HERE / "copy.js").read_text(encoding="utf-8"),
)


def copy_button(label: str, text: str, *, key: str) -> None:
    """A button that puts a text into the clipboard; beside it stands whether it worked."""
    data = {"label": label, "text": text, "done": "Copied.", "failed": "Select it and copy it by hand."}
    _COPY(key=key, data=data, width="content")


def come_to_top(*, pressed: bool, closes_side: bool = False) -> None:
    """Bring the page to its top once; unless somebody types, where it wasn't a button that was `pressed`. On a phone,
    where the side bar covers the page, `closes_side` closes it."""
    count = st.session_state["_n_notices"] = st.session_state.get("_n_notices", 0) + 1
    _TOP(key=f"notice-{count}", data={"pressed": pressed, "closesSide": closes_side}, height=0)


_DRAWN, _DRAWING, _REFUSED, _PRESSED = "_drawn", "_drawing", "_refused", "_pressed"  # in the session


def pressed() -> None:
    """A button that changes something was pressed: what it does on a click, before the run that finds it pressed."""
    st.session_state[_PRESSED] = True


def begin_drawing(chosen: Project | None) -> str:
    """A run begins that shows this project, or none; why what was pressed on the page before it isn't done, or ""."""
    was_pressed = st.session_state.pop(_PRESSED, False)
    drawn = st.session_state.get(_DRAWN)
    st.session_state[_DRAWING] = None if chosen is None else (chosen.id, chosen.name)
    st.session_state[_REFUSED] = None
    if chosen is not None and drawn is not None and drawn[0] != chosen.id:
        st.session_state[_REFUSED] = (
            f"This page was drawn for “{drawn[1]}”; “{chosen.name}” is shown now. Nothing was done. Choose the "
            "project that you mean, and do it again."
        )
    return (refusal() or "") if was_pressed else ""


def end_drawing() -> None:
    """The page is there as a whole: from now on it is this page where buttons are pressed.

    A run that was broken off never comes here, and leaves the page before, or a mixture.
    """
    st.session_state[_DRAWN] = st.session_state.get(_DRAWING)
    st.session_state[_REFUSED] = None


def refusal() -> str | None:
    """Why nothing may be changed in this run; None where it may."""
    return st.session_state.get(_REFUSED)


# key, title, icon; the key is the file's name and the page's address
PAGES = (
    ("project", "Project", ":material/home:"),
    ("embeddings", "Embeddings", ":material/hub:"),
    ("tokens", "Tokens", ":material/label:"),
    ("plan", "Plan", ":material/tune:"),
    ("collect", "Collect", ":material/how_to_vote:"),
    ("voters", "Voters", ":material/groups:"),
    ("scores", "Scores", ":material/leaderboard:"),
    ("evaluate", "Evaluate", ":material/fact_check:"),
    ("export", "Export", ":material/download:"),
    ("help", "Help", ":material/help:"),
)
NEW = "new"  # the page that makes a project: no step of a project's, so not in the navigation
MOVED = ("schemes",)  # addresses of earlier versions, which lead on

_KINDS = {"demo": "Demo: simulated voters", "trial": "Trial: may hold simulated votes"}


def navigation() -> Any:
    """Register the pages and return the one that was asked for."""
    pages = {
        key: st.Page(f"../pages/{key}.py", title=title, icon=icon, url_path=key, default=key == "project")
        for key, title, icon in PAGES
    }
    hidden = {
        key: st.Page(f"../pages/{key}.py", title=title, url_path=key, visibility="hidden")
        for key, title in ((NEW, "New project"), *((key, "Moved") for key in MOVED))
    }
    st.session_state["_pages"] = pages | hidden
    chosen = st.navigation([*pages.values(), *hidden.values()], expanded=True)
    st.session_state["_page"] = chosen.url_path or "project"
    return chosen


def link(key: str, label: str, icon: str | None = None, *, area_id: int | None = None) -> None:
    """A link to another page that keeps the project; to an area's own ranking, where each has one."""
    page = st.session_state["_pages"][key]
    query = {"project": st.session_state["project_id"]}
    if area_id is not None:
        query["area"] = str(area_id)
    st.page_link(page, label=label, icon=icon, query_params=query)


def area(project: Project, standings: Sequence[RankingStatus]) -> int | None:
    """The area whose ranking a page is about, chosen by the visitor; None where one ranking holds all areas.

    The choice stands in the address, so that a reload and other pages keep it.
    """
    if project.ranking == "all" or not standings:
        return None
    known = {str(standing.ranking.area_id): standing for standing in standings}
    requested = st.query_params.get("area") or st.session_state.get(f"_area-{project.id}")
    chosen = requested if requested in known else next(iter(known))
    if st.session_state.get("_area_picked") != chosen:
        st.session_state["_area_picked"] = chosen
    choosers.selectbox(
        "Area",
        {key: f"{standing.ranking.area} ({standing.said})" for key, standing in known.items()},
        key="_area_picked",
        on_change=_pick_area,
        args=(project.id,),
        help="Each area has a ranking of its own: its own plan, ballots and scores.",
    )
    st.session_state[f"_area-{project.id}"] = st.query_params["area"] = chosen
    return known[chosen].ranking.area_id


def _pick_area(project_id: str) -> None:
    chosen = st.session_state["_area_picked"]
    st.session_state[f"_area-{project_id}"] = st.query_params["area"] = chosen


def first_line(sentence: str, *badges: Badge) -> None:
    """Where things stand, in numbers (Markdown), and beside it the badges."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(sentence, width="content")
        show(*badges)


def next_step(key: str, label: str, *, area_id: int | None = None) -> None:
    """The page's one primary next step."""
    link(key, f"**Next: {label}**", icon=":material/arrow_forward:", area_id=area_id)


def nothing_yet(sentence: str, key: str, label: str) -> NoReturn:
    """Say why the page has nothing to show yet, lead to the page that changes that, and end here.

    Where something must come before that, such as the token lists before the plan, it leads there.
    """
    lead_to(sentence, key, label)
    stop()


def lead_to(sentence: str, key: str, label: str) -> None:
    """As `nothing_yet`, where something follows all the same."""
    from . import cache

    st.markdown(f"**{sentence}**")
    first = cache.load_overview(store(), get_project(store(), st.session_state["project_id"]))
    if key in ("plan", "collect") and first.next_page in ("tokens", "plan"):
        key, label = first.next_page, first.next_label[:1].lower() + first.next_label[1:]
    next_step(key, label)


def store() -> Store:
    """The open workspace; it takes no change in a run that began on a page drawn for another project (`refusal`)."""
    why = refusal()
    return workspace() if why is None else workspace().looked_at(why)


def workspace() -> Store:
    """The open workspace for what doesn't hang on the project shown: jobs by their ids, and what they left."""
    return open_store()


def stop() -> NoReturn:
    """End the page here, as it is drawn; pages do this and nothing else."""
    end_drawing()
    st.stop()


def project() -> Project:
    """The chosen project as it stands now. Says so if it changed since this visitor last saw it; without any project
    the page leads to where one is made, and ends."""
    if not st.session_state.get("project_id"):
        st.title(next((title for key, title, _ in PAGES if key == st.session_state["_page"]), "Runoff"))
        st.markdown("**There is no project yet.**")
        label, icon = "**Next: make a project**", ":material/arrow_forward:"
        st.page_link(st.session_state["_pages"]["project"], label=label, icon=icon)
        stop()
    current = get_project(store(), st.session_state["project_id"])
    seen = st.session_state.get("_seen")
    known = seen[1] if seen and seen[0] == current.id else current.revision
    if known != current.revision:
        st.info(
            "The project was changed in the meantime, in another tab or by a job that ended. This is how it stands now."
        )
    st.session_state["_expected"] = known
    st.session_state["_seen"] = (current.id, current.revision)
    return current


def expected() -> int:
    """The revision that the visitor saw when pressing a button: what a command is checked against."""
    return st.session_state["_expected"]


def changed_here() -> None:
    """This visitor changed the project, so that the new revision is no surprise."""
    st.session_state.pop("_seen", None)


def choose_project() -> None:
    """The project picker in the side bar; the choice stands in the address, so that a reload keeps it."""
    projects = {item.id: item for item in list_projects(store())}
    requested = st.query_params.get("project")
    if requested and requested not in projects and requested != st.session_state.get("_unknown_project"):
        st.session_state["_unknown_project"] = requested
        text = f"There is no project “{requested}” in this workspace, so another one is shown."
        flash(text, kind="warning")
    before = st.session_state.get("project_id")
    chosen = next((key for key in (requested, before) if key in projects), next(iter(projects), None))
    st.session_state["project_id"] = chosen
    if undone := begin_drawing(projects.get(chosen or "")):
        flash(undone, kind="warning")
    if chosen is None:
        return
    if st.session_state.pop("_go_on", False):
        _go_on(projects[chosen])
    st.session_state["_picked"] = chosen
    choosers.selectbox(
        "Project",
        {key: item.name for key, item in projects.items()},
        place=st.sidebar,
        key="_picked",
        on_change=_pick,
        help="Everything on the pages is about this project.",
    )
    about = "Your own lists, or a file."
    if st.sidebar.button("New project", type="tertiary", icon=":material/add:", help=about):
        begin_project()
    if projects[chosen].kind != "real":
        st.sidebar.caption(f":material/science: {_KINDS[projects[chosen].kind]}")
    st.query_params["project"] = chosen
    _show_campaign(projects[chosen])


def _go_on(chosen: Project) -> None:
    """Show a project that was just chosen where it is to be gone on with."""
    from . import cache

    overview = cache.load_overview(store(), chosen)
    if overview.next_page == st.session_state["_page"]:
        return
    query = {"project": chosen.id} | ({"area": str(overview.next_area)} if overview.next_area is not None else {})
    st.switch_page(st.session_state["_pages"][overview.next_page], query_params=query)


def _show_campaign(chosen: Project) -> None:
    """How far the whole campaign is, on every page."""
    from . import cache

    campaign = cache.load_overview(store(), chosen).campaign
    if campaign is not None:
        share, text = campaign
        st.sidebar.progress(share, text=plain(text))


def begin_project() -> NoReturn:
    """Go to the page that makes a project."""
    st.session_state["_close_side"] = True
    st.switch_page(st.session_state["_pages"][NEW], query_params={"project": st.session_state["project_id"]})


def close_side() -> None:
    """On a phone the side bar with *New project* would lie over the page that it opens: it goes, once."""
    if st.session_state.pop("_close_side", False):
        come_to_top(pressed=True, closes_side=True)


def open_project(project_id: str) -> NoReturn:
    """Show another project from the next run on."""
    st.session_state["project_id"] = project_id
    changed_here()
    if st.session_state["_page"] == NEW:
        lead_on("project")
    st.query_params["project"] = project_id
    st.rerun()


def lead_on(key: str, **query: str) -> NoReturn:
    """Show another page of the project in place of this one, with more in its address."""
    st.switch_page(st.session_state["_pages"][key], query_params={"project": st.session_state["project_id"], **query})


def _pick() -> None:
    st.session_state["project_id"] = st.session_state["_picked"]
    st.query_params["project"] = st.session_state["_picked"]
    st.session_state["_go_on"] = True


def flash(message: str, *, kind: str = "success", details: Sequence[str] = (), pressed: bool = True) -> None:
    """Show a message at the top of the next run, in one box with its details, and bring the page there; not from under
    somebody who types, where no button was `pressed` for it."""
    st.session_state.setdefault("_flash", []).append((kind, message, tuple(details), pressed))


def show_flash() -> None:
    """Show the messages left for this run."""
    shows: dict[str, Callable[[str], Any]] = {
        "success": partial(st.success, icon=":material/check_circle:"),
        "warning": st.warning,
    }
    # One place, with a message or without: what follows keeps its own, and open tabs stay open.
    with st.container(key="notices", gap=None):
        messages = st.session_state.pop("_flash", [])
        for kind, message, details, _ in messages:
            listed = "\n".join(f"- {plain(detail)}" for detail in details)
            shows[kind](f"{plain(message)}\n\n{listed}" if details else plain(message))
        if messages:
            come_to_top(pressed=any(pressed for *_, pressed in messages))


_MARKS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&])")
# Markdown draws these as arrows and dashes; an invisible joiner between their characters keeps them as they are.
_TYPOGRAPHY = re.compile(r"<->|<-|->|--|>=|<=|~=|!=|==")


def plain(text: str) -> str:
    """A text that Markdown shows as it is: tokens may hold anything.

    >>> plain("*a* $x$")
    '\\\\*a\\\\* \\\\$x\\\\$'
    """
    joined = _TYPOGRAPHY.sub(lambda match: "\u2060".join(match[0]), shown_path(text))
    return _MARKS.sub(r"\\\1", joined)


def show_error(error: RunoffError) -> None:
    """Show an error that a person can act on, with its issues as a table where there are many."""
    if isinstance(error, StaleError):
        st.warning(plain(str(error)))
    elif isinstance(error, InputError) and len(error.issues) > 1:
        st.error(plain(error.args[0]))
        rows = [{"row": i.row, "column": i.column, "what": i.message, "found": i.found} for i in error.issues]
        st.dataframe(rows, hide_index=True)
    else:
        st.error(plain(str(error)))


def carried_out(action: Callable[..., Any], *args: Any, done: str | Callable[[Any], str | None], **kwargs: Any) -> bool:
    """Carry out a change, as every page does: what was done is told in the next run, an error is shown in place.

    action : a command of the store that is always short; what may take long is a command of its own, which `jobs.send`
    sends by this function. done : the message, or what makes it of the result; None where nothing has
    changed yet. True where the page should be drawn anew.
    """
    try:
        choosers.refuse_if_gone()
        result = action(*args, **kwargs)
    except StaleError as error:
        flash(str(error), kind="warning")
    except RunoffError as error:
        show_error(error)
        return False
    else:
        message = done if isinstance(done, str) else done(result)
        if message is None:
            return True
        flash(message)
    changed_here()
    return True


def carry_out(action: Callable[..., Any], *args: Any, done: str | Callable[[Any], str], **kwargs: Any) -> None:
    """Send one command, say what happened, and draw the page anew. An error is shown in place."""
    if carried_out(action, *args, done=done, **kwargs):
        st.rerun()


def command_button(
    label: str, action: Callable[..., Any], *args: Any, done: str | Callable[[Any], str], **options: Any
) -> None:
    """A button that sends one command, checked against what the visitor saw; `options` go to the button."""
    if st.button(label, on_click=pressed, **options):
        carry_out(action, store(), *args, done=done, expected_revision=expected())


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
# Messages have the room beside Streamlit's bar, which is there in any case, so that a message of two lines, on a phone
# of three, moves nothing on the page, neither as it comes nor as it goes; a longer one moves it by what is more. On a
# phone the button of the side bar is in that room.
_NOTICES = """<style>
[data-testid="stLayoutWrapper"]:has(> .st-key-notices) {
  min-height: 3.75rem; margin: -3.75rem 0 -1rem; position: relative; z-index: 999991; pointer-events: none
}
.st-key-notices {justify-content: center}
.st-key-notices > * {pointer-events: auto}
.st-key-notices [data-testid="stAlertContainer"] {padding-block: .35rem; min-height: 0}
@media (max-width: 640px) {
  .st-key-notices {padding-left: 2.75rem}
  .st-key-notices [data-testid="stAlertContainer"] {padding-block: .25rem}
  .st-key-notices :is(p, li) {font-size: .85rem; line-height: 1.25}
}
@media print {[data-testid="stLayoutWrapper"]:has(> .st-key-notices) {min-height: 0; margin: 0}}
</style>"""
# As high as the headline of the Evaluate page with the bar below it: what stands under it stays where it is when the
# bar goes and the headline changes.
_WAITED = """<style>
.st-key-evaluate-waited {min-height: 6.7rem}
@media (max-width: 640px) {.st-key-evaluate-waited {min-height: 13.5rem}}
</style>"""
# Streamlit's own grey of axes is 3.7 : 1 on white.
_CHARTS = """<style>
[data-testid="stVegaLiteChart"] text {fill: currentColor; fill-opacity: .7}
</style>"""
# Browsers leave grounds out, so that the light words of the dark theme would be printed on white.
_DARK_PRINTED = """<style>
@media print {[data-testid="stApp"] {filter: invert(1) hue-rotate(180deg)}}
</style>"""
# White on the dark theme's blue would be 2.5 : 1.
_DARK_BUTTONS = """<style>
[data-testid^="stBaseButton-primary"] :is(p, span) {color: #0b1a27}
</style>"""


def style_page() -> None:
    """Dark words on the bright primary buttons of the dark theme, words of charts in a colour of the theme; room for
    what tables and charts show on a phone, and for what comes later; pages that can be printed."""
    st.html(_COMPACT + _NOTICES + _TOUCHED + _PRINTED + _WAITED + _CHARTS)
    if st.context.theme.type == "dark":
        st.html(_DARK_BUTTONS + _DARK_PRINTED)
