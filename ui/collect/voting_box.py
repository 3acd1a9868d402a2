"""The voting page of a ballot or a round as its owner handles it: opened and served by one button, watched, changed.

There are its link with a button that copies it, a QR code and who can reach it; its checks; its voters, when they
began, and how one of them or all of a span are taken out again.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import streamlit as st

from core.base.numbers_in_words import many
from core.base.processes import network_address
from core.commands.ballots import OpenVoting
from core.commands.figures.rehearsal import Rehearsed
from core.commands.votes import WithdrawVoters
from core.errors import RunoffError
from core.i18n import language
from core.questions.voting_settings import VotingSettings
from core.store import Store
from core.store.ballots.ballot_rows import Ballot
from core.store.projects.plans import PlanSettings
from core.store.projects.project_commands import Project
from core.store.tokens.areas import read_items
from core.store.votes.checks import add_gold, remove_gold, typed_gold
from core.store.votes.uploads import of_sessions
from core.store.voting.owner_commands import (
    VotingPageInfo,
    invite,
    read_invitations,
    read_link,
    renew_link,
    round_voting_settings,
    set_voting_state,
    withdraw_voter,
)
from core.views import wording
from core.views.collect import voting as views
from core.views.collect.voting import Arrivals, VotingView
from core.views.wording import moment
from core.voting import process
from core.voting.process import Running
from ui.collect.voting_form import round_form, settings_form
from ui.plan.checks_box import known_answers_area
from ui.shared import cache, choosers, frame, jobs

HERE = "127.0.0.1"
QR_WIDTH = 190  # pixels


def serving_box(
    store: Store, state: str | None, code: str | None, *, key: str, note: str, open_voting: Callable[[], Any]
) -> None:
    """The way from a drawn ballot to voters: the switch for the network, then one button, or the link.

    state : of the voting page, None where it was never opened; code : of its link; note : what voters get, beside the
    button; open_voting : opens it, once it is served.
    """
    servers = process.running_servers(store)
    is_open = state not in (None, "closed")
    if is_open and servers and code is not None:
        _link(views.link(_base(servers), code), key)
    for running in servers:
        st.caption(f":material/power: {_server_text(running)}")
    host = _network_switch(store, servers, key)
    if is_open and servers:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        label = "Serve the voting page" if is_open else "Open the voting page"
        pressed = st.button(label, type="primary", icon=":material/how_to_vote:")
        st.caption("Nobody can reach the page until it is served." if is_open else note)
    if pressed and (servers or _server_changed(partial(process.start_server, store, host=host))):
        if is_open:
            st.rerun()
        open_voting()


def base_field(servers: list[Running]) -> str:
    """The address at which voters come, to be changed where a web server stands before the page; as it is now."""
    address = _address(servers)
    typed: str = st.text_input(
        "Address at which voters reach it",
        address,
        help="Where your web server passes voters on to this page, such as https://vote.example.org.",
        key=f"voting-base-{address}",
        persist_state="session",
    )
    return typed


def _address(servers: list[Running]) -> str:
    return servers[0].url if servers else f"http://localhost:{process.PORT}"


def _base(servers: list[Running]) -> str:
    address = _address(servers)
    return st.session_state.get(f"voting-base-{address}") or address


def _link(link: str, key: str) -> None:
    """The link, to be opened, copied, or pointed a phone's camera at."""
    local = views.is_local(link)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        with st.container(width="stretch" if local else 460):
            st.code(link, language=None, wrap_lines=True)
            with st.container(horizontal=True, vertical_alignment="center"):
                st.link_button("Open", link, icon=":material/open_in_new:")
                frame.copy_button("Copy", link, key=f"copy-{key}")
        if not local:
            st.image(views.qr_code(link), width=QR_WIDTH, alt=f"QR code of the link {link}")


def _server_text(running: Running) -> str:
    """Where a server listens, who reaches it, and when it ends."""
    reach = "for this machine only" if running.is_local else "for others on its network too"
    end = (
        "It stops when Runoff stops."
        if running.ends_with_app
        else f"It was started apart from these pages (process {running.pid}), and goes on when Runoff stops."
    )
    return f"Served at `{running.url}`, {reach}. {end}"  # no link: voters come by the one above


def _network_switch(store: Store, servers: list[Running], key: str) -> str:
    """Whether people in this network may come, with what that means; the address of this machine to serve at."""
    others = [running for running in servers if not running.ends_with_app]
    if others:
        return HERE
    current, address = next(iter(servers), None), network_address()
    is_on = current is not None and not current.is_local
    place = current.host if current else "none"
    wanted = st.toggle(
        "People on this network may vote",
        is_on,
        key=f"network-{key}-{place}",
        disabled=address is None and not is_on,
        help="This machine isn't on a network."
        if address is None
        else "When off, only this machine reaches the page: to try it out, or behind a web server with TLS "
        "(docs/voting.md).",
    )
    host = address if wanted and address else HERE
    if wanted:
        local = st.get_option("server.address") in ("localhost", HERE, "::1")
        yours = "Your own pages stay on this machine." if local else "Runoff's own pages are open to a network as well."
        st.warning(
            "Every device on this machine's network can open the page, with the link. There is no TLS: names and votes "
            f"can be read on their way, so do this on a network that you trust. {yours}",
            icon=":material/wifi:",
        )
    if current is not None and wanted != is_on and _server_changed(partial(process.move_server, store, current, host)):
        st.rerun()
    return host


def _server_changed(action: Callable[[], Any]) -> bool:
    """Start or stop a server; an error is shown in place."""
    try:
        with st.spinner("Starting the voting page …"):
            action()
    except RunoffError as error:
        frame.show_error(error)
        return False
    return True


def stop_serving_button(store: Store) -> None:
    """The button that ends all servers of the workspace, where there are any."""
    servers = process.running_servers(store)
    if not servers:
        return
    label = "Stop serving the voting page" if len(servers) == 1 else "Stop all servers of the voting page"
    about = "The link stops working; nothing is closed by it. Once it is served again, voters continue where they were."
    pressed = st.button(label, icon=":material/power_off:", help=about)
    if pressed and _server_changed(partial(process.stop_servers, store)):
        st.rerun()


def still_served(store: Store) -> None:
    """Where the voting page is served while nothing here is voted on, and the button that ends that."""
    servers = process.running_servers(store)
    if servers:
        st.markdown("##### The voting page is still served")
        for running in servers:
            st.caption(_server_text(running))
        stop_serving_button(store)


def checks_box(store: Store, project: Project, ballot: Ballot, view: VotingView) -> None:
    """The ballot's comparisons with a known answer, and proposals to tick, and lines for others."""
    box = st.expander(f"Known answers ({len(view.gold)})", key=f"checks-box-{ballot.id}", on_change="rerun")
    if not box.open:
        return
    with box:
        st.caption("Comparisons whose answer is sure, put among the others: they show who reads. They enter no score.")
        if len(view.gold):
            st.dataframe(view.gold, hide_index=True, column_config={"id": None}, alt="Checks and their answers")
            _remove(project, ballot, view)
        _proposed(store, project, ballot, view)
        typed = known_answers_area(f"gold-typed-{ballot.id}")
        frame.command_button(
            "Add these", partial(_add_typed, typed, ballot), project.id, done="The checks are added.",
            disabled=not typed.strip(), key=f"gold-typed-add-{ballot.id}",
        )  # fmt: skip


def _proposed(store: Store, project: Project, ballot: Ballot, view: VotingView) -> None:
    pairs = cache.load_proposed_gold(store, project, ballot)
    if not pairs:
        closed = "The closed ballots leave no order beyond doubt" if ballot.number > 1 else "No ballot is closed yet"
        st.caption(f"{closed}, so none can be proposed: type your own.")
        return
    st.caption("The votes so far leave no doubt about the order of these. Tick those to ask.")
    names = read_items(store, project.id).set_index("item")
    pair_names = names["token_a"] + " – " + names["token_b"]
    rows = [{"use": False, "right answer": pair_names[more], "other pair": pair_names[less]} for more, less in pairs]
    ticked = st.data_editor(
        rows,
        hide_index=True,
        disabled=["right answer", "other pair"],
        key=f"gold-{ballot.id}-{len(view.gold)}",
    )
    chosen = [pair for pair, row in zip(pairs, ticked, strict=True) if row["use"]]
    frame.command_button(
        f"Add {many(len(chosen), 'check')}",
        partial(_add, chosen, ballot),
        project.id,
        done="The checks are added.",
        disabled=not chosen,
    )


def _add(pairs: list[tuple[int, int]], ballot: Ballot, store: Store, project_id: str, **options: int) -> int:
    return add_gold(store, project_id, pairs, area_id=ballot.area_id, code=ballot.code, **options)


def _add_typed(text: str, ballot: Ballot, store: Store, project_id: str, **options: int) -> int:
    return _add(typed_gold(store, project_id, text, area_id=ballot.area_id), ballot, store, project_id, **options)


def _remove(project: Project, ballot: Ballot, view: VotingView) -> None:
    names = dict(zip(view.gold["id"].tolist(), view.gold["right answer"].tolist(), strict=True))
    others = dict(zip(view.gold["id"].tolist(), view.gold["other pair"].tolist(), strict=True))
    chosen = choosers.selectbox(
        "Remove a check", names, None, key=f"check-gone-{ballot.id}", apart=others.__getitem__,
        placeholder="none",
    )  # fmt: skip
    if chosen is not None:
        action = partial(remove_gold, question_id=chosen, area_id=ballot.area_id, code=ballot.code)
        frame.command_button("Remove it", action, project.id, done="The check is removed.")


def voters_box(project: Project, view: VotingView, *, noun: str = "vote") -> None:
    """The voters of the page, what they told as totals, and the way out for one who takes consent back.

    noun : what they gave, "answer" in rounds of other kinds.
    """
    if not len(view.voters):
        return
    with st.expander("Voters of the page"):  # a number that changes would close it with each voter who comes
        st.dataframe(view.voters, hide_index=True, column_config={"id": None}, alt="Voters of the page")
        if len(view.told):
            st.dataframe(
                view.told,
                hide_index=True,
                alt="What voters said about themselves, as totals",
            )
        names = dict(zip(view.voters["id"].tolist(), view.voters["voter"].tolist(), strict=True))
        platforms = dict(zip(view.voters["id"].tolist(), view.voters["platform"].tolist(), strict=True))
        chosen = choosers.selectbox(
            "A voter withdraws consent",
            names,
            None,
            key=f"consent-{project.id}-{view.voting.id if view.voting else None}",
            apart=platforms.__getitem__,
            placeholder="Choose an option",
        )
        if chosen is not None:
            stake = of_sessions(frame.store(), project.id, [chosen])
            st.caption(frame.plain(wording.deletion_text(wording.TAKES_OUT, stake, noun=noun, whom=names[chosen])))
            frame.command_button(
                f"Withdraw this voter's {noun}s",
                partial(withdraw_voter, session_id=chosen),
                project.id,
                done=lambda n: f"{many(n, 'answer')} marked as withdrawn.",
            )


def arrivals_box(store: Store, project: Project, voting: VotingPageInfo) -> None:
    """Voters by the minute in which they began, and those of a span of time taken out, once opened."""
    box = st.expander("When voters began", key=f"arrivals-{voting.id}", on_change="rerun")
    if not box.open:
        return
    arrivals = views.load_arrivals(store, voting.id)
    with box:
        if not len(arrivals.voters):
            st.caption("Nobody has begun yet.")
            return
        st.caption(
            "Times are UTC. Addresses are numbered; the addresses themselves aren't kept, and the numbers go when "
            "the ballot closes. A school, or a proxy without --behind-proxy, is one address."
        )
        _tables(arrivals)
        _span(store, project, voting, arrivals)


def _tables(arrivals: Arrivals) -> None:
    st.dataframe(arrivals.minutes, hide_index=True, alt="Voters by minute")
    if len(shared := arrivals.addresses):
        st.dataframe(shared, hide_index=True, alt="Addresses of several voters")


def _span(store: Store, project: Project, voting: VotingPageInfo, arrivals: Arrivals) -> None:
    """The voters who began within a span of time, the number of their answers, and the button that removes both."""
    st.markdown("**Take out all who began between**")
    with st.container(horizontal=True):
        first, last = (
            st.datetime_input(label, None, step=timedelta(minutes=1), key=f"arrivals-{end}-{voting.id}")
            for end, label in (("first", "The first minute (UTC)"), ("last", "The last minute (UTC)"))
        )
        address = st.number_input("Only of address (0: all)", 0, value=0, key=f"arrivals-address-{voting.id}")
    if first is None or last is None:
        return
    chosen = arrivals.between(first, last, int(address))
    span = views.span_of(store, chosen["id"].tolist())
    going = chosen[chosen["id"].isin(span.session_ids)]
    rows = going.assign(address=going["address"].astype("Int64").mask(going["address"] == 0))
    if going.empty:
        st.caption("Nobody who is voting or has voted began then.")
        return
    counts = {"voters": many(len(going), "voter"), "answers": many(span.n_answers, "answer")}
    st.dataframe(rows, hide_index=True, column_config={"id": None}, alt="Voters who would be taken out")
    st.caption(
        "{voters} with {answers}, the last at {moment} UTC.".format(moment=moment(span.last), **counts)
        if span.last
        else f"{counts['voters']}, none with an answer."
    )
    jobs.offer(
        "Take {voters} and {answers} out".format(**counts),
        WithdrawVoters(project.id, frame.expected(), tuple(span.session_ids)),
        key=f"arrivals-out-{hash(tuple(span.session_ids))}",  # somebody came since: another list, another button
    )


MENU = "Pause or stop"
EVERY = 3  # seconds between two looks at an open voting page


def voting_panel(store: Store, project: Project, ballot: Ballot, plan: PlanSettings) -> None:
    """Everything about the voting page of the open ballot."""
    view = views.load(store, project.id, ballot)
    settings = view.voting.settings if view.voting else views.standard_settings(plan, ballot)
    _serving(store, project, ballot, view, settings, note=views.settings_said(settings))
    changed = settings_form(settings, plan, ballot, view.hashes, is_new=view.voting is None)
    if changed is not None:
        jobs.send(OpenVoting.of(project.id, frame.expected(), ballot, settings=changed.stored()))
    rehearsal_box(store, project, ballot)
    if view.voting is None:
        return
    links_box(store, project, ballot)
    checks_box(store, project, ballot, view)
    voters_box(project, view)
    arrivals_box(store, project, view.voting)


def rehearsal_box(store: Store, project: Project, ballot: Ballot) -> None:
    """The rehearsal of the voting page of a ballot or round in its expander: the button, and what was found."""
    box = st.expander("Rehearse the voting page", key=f"rehearsal-{ballot.id}", on_change="rerun")
    if not box.open:
        return
    with box:
        st.markdown(
            "Twenty made-up voters go through all of it on a copy, from consent to the last page: answers, double "
            "taps, Undo, a lost connection. Each stored row is compared with what was sent. **Nothing of this project "
            "changes.**"
        )
        wanted = views.rehearsal_of(store, project.id, ballot.area_id, ballot.code, n_voters=20)
        found = jobs.figure(wanted, project, "Rehearse now", key=f"rehearsal-{ballot.id}", icon=":material/theaters:")
        if found is not None:
            _rehearsed(found.result)


def _rehearsed(found: Rehearsed) -> None:
    view = views.rehearsal_view(found)
    (st.success if found.is_fine else st.error)(frame.plain(view.outcome))
    for problem in found.problems:
        st.markdown(frame.plain(problem))
    st.caption(frame.plain(view.pay))
    st.markdown("**What a voter sees, in order**")
    words = {name: view.screens[name].map(frame.plain) for name in ("screen", "buttons")}  # an owner's own, as typed
    st.table(view.screens.assign(**words), border="horizontal", hide_index=True, alt="Screens of the rehearsal")
    if view.exported:
        st.markdown(frame.plain(view.exported))
        st.dataframe(found.exported, hide_index=True, alt="Some rows of what is exported")
    st.caption(frame.plain(view.untouched))


def _serving(
    store: Store, project: Project, ballot: Ballot, view: views.VotingView, settings: VotingSettings, *, note: str
) -> None:
    command = OpenVoting.of(project.id, frame.expected(), ballot, settings=settings.stored())
    serving_box(
        store,
        view.voting.state if view.voting else None,
        read_link(store, project.id, ballot.area_id) if view.voting else None,
        key=str(ballot.id),
        note=note,
        open_voting=lambda: jobs.send(command),
    )


def round_voting_panel(project: Project, ballot: Ballot) -> None:
    """Everything about the voting page of an open round."""
    store = frame.store()
    view = views.load(store, project.id, ballot)
    old = view.voting.settings if view.voting else round_voting_settings(ballot)
    if view.voting is not None:
        live(store, ballot.id, is_open=view.voting.state == "open")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(views.state_said(view.voting), width="content")
            with st.popover(MENU, icon=":material/front_hand:"):
                voting_states(store, project, ballot, view.voting, "The round stays open for files.")
    spoken = language(ballot.settings.language)
    _serving(store, project, ballot, view, old, note="With the settings below.")
    settings = round_form(old, f"round-{ballot.id}", spoken, view.hashes, is_new=view.voting is None)
    if settings is not None:
        jobs.send(OpenVoting.of(project.id, frame.expected(), ballot, settings=settings.stored()))
    rehearsal_box(store, project, ballot)
    if view.voting is None:
        return
    links_box(store, project, ballot)
    voters_box(project, view, noun="answer")
    arrivals_box(store, project, view.voting)


def voting_states(store: Store, project: Project, ballot: Ballot, voting: VotingPageInfo | None, stays: str) -> None:
    """Pause, resume, stop serving and close, one below the other; `stays` is what closing leaves open."""
    change = partial(set_voting_state, area_id=ballot.area_id, code=ballot.code)
    if voting is not None:
        offers = (
            ("Pause voting", "open", "paused", "Voting is paused; everybody keeps their place.", ":material/pause:"),
            ("Resume voting", "paused", "open", "Voting goes on.", ":material/play_arrow:"),
        )
        for label, from_state, state, done, icon in offers:
            if voting.state == from_state:
                frame.command_button(label, _set_state_to(change, state), project.id, done=done, icon=icon)
    stop_serving_button(store)
    if voting is not None and voting.state != "closed":
        frame.command_button(
            "Close voting",
            _set_state_to(change, "closed"),
            project.id,
            done="Voting is closed.",
            icon=":material/do_not_disturb_on:",
            help=f"Voters are asked nothing more. {stays}",
        )


def _set_state_to(change: Callable[..., None], state: str) -> Callable[..., None]:
    return lambda store, project_id, **options: change(store, project_id, state, **options)


def live(store: Store, ballot_id: int, *, is_open: bool) -> None:
    """A round's answers, voters, pace and expected end; anew every few seconds while voting is open."""
    st.fragment(_live, run_every=EVERY if is_open else None)(store, ballot_id)


def _live(store: Store, ballot_id: int) -> None:
    progress = views.load_live(store, ballot_id)
    st.progress(progress.share, text=f"{progress.votes:,} of {many(progress.wanted, 'answer')}")
    if said := progress.said("answer"):
        st.caption(said)


def links_box(store: Store, project: Project, ballot: Ballot) -> None:
    """Links for platforms, personal ones, and another one in place of all of them."""
    code = read_link(store, project.id, ballot.area_id)
    if code is None:
        return
    with st.expander("Other links"):
        st.caption("The link stays the same for all ballots and rounds of this ranking.")
        base = base_field(process.running_servers(store))
        plain = views.link(base, code)
        for name, query in views.PLATFORM_LINKS.items():
            st.caption(name)
            st.code(plain + query, language=None)
        st.markdown("**Personal links**")
        st.caption("Under “Voters” in the settings you choose whether the plain link still lets others in.")
        names = st.text_area("Names, one per line", key=f"invite-{ballot.id}")
        frame.command_button(
            "Make links",
            lambda store, id_, **options: invite(store, id_, names.splitlines(), area_id=ballot.area_id, **options),
            project.id,
            done="The links are made.",
            disabled=not names.strip(),
        )
        invitations = read_invitations(store, project.id, ballot.area_id)
        if invitations:
            data = views.write_invitations(base, code, invitations)
            label = f"Personal links (CSV, {len(invitations)})"
            st.download_button(label, data, "voting-links.csv", "text/csv", on_click="ignore")
        if st.checkbox("I want another link", help="The old link and all personal links stop working."):
            frame.command_button(
                "Replace the link",
                partial(renew_link, area_id=ballot.area_id),
                project.id,
                done="The link is replaced.",
            )
