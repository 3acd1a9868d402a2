"""Language models as voters: switched on, asked about a ballot, and set beside people."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.base.durable import slug
from core.base.numbers_in_words import many
from core.commands.judging import AskModel, JudgeFigure, JudgeFigures
from core.errors import RunoffError
from core.judges.chat import KEY, MAX_AT_ONCE, JudgeSettings, checked
from core.store.projects.model_servers import CHAT, switch_off, switch_on
from core.store.projects.project_commands import Project
from core.store.votes.model_answers import ModelJudge
from core.views.evaluate import judges as view_of
from core.views.evaluate.judges import JudgesView
from ui.evaluate import tables
from ui.shared import choosers, frame, jobs
from ui.shared.frame import plain

N0 = 2.0  # of ρ_w and τ_w where the page has no settings yet
_FIRST = JudgeSettings("http://localhost:8000", "model")
POWERED = (
    "What people's votes on some comparisons say of all that the model judged, with 90% intervals (prediction-powered "
    "estimates). The model's answers count with the weight λ, 0 where they tell nothing. Where people voted too, the "
    "model's error is taken off, so that a wrong model moves nothing on average. θ is an item's score on the scale of "
    "Bradley–Terry; it gains little, as answers help only where they explain what the scores don't. Comparisons with "
    "votes are taken as drawn at random. No score of the project is changed."
)
ABOUT = (
    "Flips: comparisons whose answer changes with the order of the two pairs. Sharpness and lapse: as if the model "
    "were one more voter on people's scores; beside them the middle one of people's voters, and the range of eight in "
    "ten."
)


def show(project: Project, n0: float) -> None:
    """The switch, the asking, the records and the figures of one."""
    view = view_of.load(frame.store(), project.id)
    st.markdown("##### Language models as voters")
    st.caption(f"{view_of.NEVER} Each comparison is asked in both orders.")
    if not view.ballots:
        st.caption("There is no ballot to ask about yet.")
        return
    _switch(view, project)
    if view.settings is not None:
        _ask(view, project)
    if view.judges:
        _records(view, project, n0)


def alone(project: Project) -> None:
    """All of it, folded, where there is no embedding or no score yet to show a page of; nothing without a ballot."""
    if not view_of.load(frame.store(), project.id).ballots:
        return
    with st.expander("Language models as voters", icon=":material/smart_toy:"):
        show(project, N0)


def _switch(view: JudgesView, project: Project) -> None:
    settings = view.settings
    st.markdown(f":material/{'cloud_upload' if settings else 'cloud_off'}: {plain(view.sent)}")
    label = "Another model, or switch it off" if settings else "Switch a language model on"
    with st.expander(label, icon=":material/smart_toy:"):
        with st.form(f"judge-{project.id}", border=False):
            new_settings = _form(settings or _FIRST, is_new=settings is None)
            st.caption(
                "Any server that speaks /v1/chat/completions: vLLM, llama.cpp, Ollama, or a paid one. A key comes "
                f"from the environment variable {KEY}, set before Runoff is started; it is written nowhere."
            )
            on = st.form_submit_button("Switch it on", icon=":material/cloud_upload:")
        if on:
            _switch_on(project, new_settings)
        if settings is not None:
            frame.command_button(
                "Switch it off",
                partial(_switch_off, project.id),
                done="Nothing is sent any more. What was answered stays.",
                icon=":material/cloud_off:",
                key=f"judge-off-{project.id}",
            )


def _form(first: JudgeSettings, *, is_new: bool) -> JudgeSettings:
    """The settings of a language model as they stand in the form."""
    left, right = st.columns(2)  # a row each, so that on a phone they stand in this order
    address = left.text_input(
        "Address of the server", "" if is_new else first.address, placeholder=_FIRST.address, help="Without /v1."
    )
    model = right.text_input("Model", "" if is_new else first.model, help="As the server calls it.")
    left, right = st.columns(2)
    temperature = left.number_input(
        "Temperature", 0.0, 2.0, first.temperature, 0.1, help="Empty: the server's own. 0: the likeliest answer."
    )
    most = right.number_input(
        "Longest answer, in tokens", 1, 100_000, first.most_tokens,
        help="One letter is asked for. Models that think aloud need some thousand; empty: no bound.",
    )  # fmt: skip
    left, right = st.columns(2)
    price = "In the money of the plan. With both, the page says what a vote costs."
    input_price = left.number_input("Price of a million tokens sent", 0.0, 1e6, first.input_price, help=price)
    output_price = right.number_input("Price of a million tokens answered", 0.0, 1e6, first.output_price, help=price)
    at_once = left.number_input("Comparisons asked at the same time", 1, MAX_AT_ONCE, first.at_once)
    return JudgeSettings(address, model, temperature, most, input_price, output_price, int(at_once))


def _switch_on(project: Project, new_settings: JudgeSettings) -> None:
    try:
        settings = checked(new_settings)
    except RunoffError as error:
        frame.show_error(error)
        return
    frame.carry_out(
        switch_on, frame.store(), project.id, CHAT, settings.stored(), expected_revision=frame.expected(),
        done=f"{settings.model} at {settings.address} may be asked. Nothing is sent before you ask.",
    )  # fmt: skip


def _switch_off(project_id: str, store: object, *, expected_revision: int) -> None:
    switch_off(frame.store(), project_id, CHAT, expected_revision=expected_revision)


def _ask(view: JudgesView, project: Project) -> None:
    names = {ballot.code: called for ballot, called in view.ballots}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        code = choosers.selectbox("Ballot", names, key=f"judge-ballot-{project.id}", width=240)
        ballot = next(ballot for ballot, _ in view.ballots if ballot.code == code)
        n = st.number_input(
            "Comparisons", 1, ballot.n_comparisons, min(100, ballot.n_comparisons),
            key=f"judge-n-{ballot.id}", width=160,
            help="A sample, drawn by the ballot's seed; a larger one holds the smaller one.",
        )  # fmt: skip
        anew = st.toggle(
            "Begin anew", key=f"judge-anew-{project.id}",
            help="A record of its own, though one of this model and prompt could go on.",
        )  # fmt: skip
    command = AskModel.of(project.id, frame.expected(), ballot, n=int(n), anew=anew)
    jobs.offer(
        f"Ask {many(2 * int(n), 'question')}", command, icon=":material/smart_toy:", key=f"judge-ask-{project.id}",
        help=f"{many(int(n), 'comparison')} in both orders. What is answered already isn't asked again.",
    )  # fmt: skip


def _records(view: JudgesView, project: Project, n0: float) -> None:
    for judge in view.judges:
        if judge.stale:
            st.warning(plain(f"{judge.name}, {view.ballot_of(judge)}, is stale: {'; '.join(judge.stale)}."))
    st.dataframe(view.table, hide_index=True, alt="What language models were asked")
    names = {judge.id: f"{judge.name}, {view.ballot_of(judge)}" for judge in view.judges}
    chosen = choosers.selectbox(
        "Record", names, key=f"judge-record-{project.id}", apart=lambda id_: _began_at(view.judges, id_)
    )
    judge = next(judge for judge in view.judges if judge.id == chosen)
    if judge.n_missing:
        st.caption(
            f"{many(judge.n_missing, 'answer')} are still missing: ask for as many comparisons again, and it goes on."
        )
    figure = JudgeFigure(project.id, project.revision, judge.id, judge.n_attempts, n0)
    measured = jobs.figure(figure, project, "Compare it with people", key=f"judge-figure-{judge.id}")
    if measured is not None:
        _figures(measured.result, judge, project.id)


def _began_at(judges: tuple[ModelJudge, ...], id_: int) -> str:
    return next(judge.began_at[:19] for judge in judges if judge.id == id_)


def _figures(figures: JudgeFigures, judge: ModelJudge, project_id: str) -> None:
    st.markdown(plain(view_of.answers_said(figures)))
    table = view_of.figures_table(figures)
    words = {name: table[name].map(plain) for name in ("figure", "from")}  # a reason may name anything
    tables.of_cells(table.assign(**words), "The model beside people")
    st.caption(ABOUT)
    st.markdown("###### Agreement by the gap of people's scores")
    if figures.no_gaps:
        st.caption(plain(figures.no_gaps))
    else:
        tables.of_cells(view_of.gaps_table(figures), "Agreement by the gap of scores")
        st.caption(
            "How often the model, with its 90% interval, and people name the item that people's scores have higher; a "
            "tie counts half. People's own votes made these scores, so theirs is a little too high."
        )
    _powered(figures, judge, project_id)
    with st.expander("What it was told before each comparison"):
        st.code(judge.prompt, language=None, wrap_lines=True)
    files = (
        ("Its answers (CSV)", "answers", view_of.answers_csv, False),
        ("Its own ranking (CSV)", "ranking", view_of.ranking_csv, figures.ranking.n_common == 0),
    )
    with st.container(horizontal=True):
        for name, what, make, is_off in files:
            st.download_button(
                name, partial(make, frame.store(), project_id, judge.id), f"{slug(judge.model)}-{what}.csv", "text/csv",
                on_click="ignore", icon=":material/download:", key=f"judge-{what}-{judge.id}", disabled=is_off,
            )  # fmt: skip


def _powered(figures: JudgeFigures, judge: ModelJudge, project_id: str) -> None:
    """The estimates of the ballot with the model's help, beside those by people's votes alone."""
    st.markdown("###### The whole ballot, with the model's help")
    if figures.powered.reason:
        st.caption(plain(figures.powered.reason))
        return
    tables.of_cells(view_of.powered_table(figures), "People's votes alone, and with the model's help")
    st.caption(f"{POWERED} {figures.powered.no_intervals}")
    st.download_button(
        "θ of both kinds (CSV)", partial(view_of.powered_csv, frame.store(), project_id, figures),
        f"{slug(judge.model)}-powered.csv", "text/csv", on_click="ignore", icon=":material/download:",
        key=f"judge-powered-{judge.id}",
    )  # fmt: skip
