"""`make soak`: a hundred voters at once on the real server of the voting page, a few of them in Chromium.

Nobody's vote may be lost or doubled, and every comparison must be within one vote of its target; the time from an
answer to the next comparison is reported against p50 50 ms and p99 300 ms. Everything stays on this machine.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import click
import numpy as np
import sqlalchemy as sa

from bench.voters import HttpVoter, all_vote
from core.questions.voting_settings import VotingSettings
from core.store import Store, open_store
from core.store import schema as t
from core.store.postgresql import grant_role
from tests.voting_server import VotingServer, make_voting

TOKENS = tuple(f"word{n}" for n in range(15))  # 105 items, at M = 20 1,050 comparisons
APPEARANCES = 20
P50_MS, P99_MS = 50.0, 300.0


@click.command()
@click.option("--voters", default=100, show_default=True)
@click.option("--votes", default=30, show_default=True, help="Votes a voter.")
@click.option("--think", default=2.0, show_default=True, help="Seconds between a voter's votes, on average.")
@click.option("--browsers", default=4, show_default=True, help="How many of the voters use Chromium, phone size.")
@click.option("--kills", default=10, show_default=True, help="How often a server is killed in mid-vote afterwards.")
@click.option("--database", type=click.Choice(["sqlite", "postgresql"]), default="sqlite", show_default=True)
@click.option("--role", is_flag=True, help="On PostgreSQL, the server has the voters' role.")
def main(voters: int, votes: int, think: float, browsers: int, kills: int, database: str, role: bool) -> None:
    """Let voters vote, then count; kill servers, and count again."""
    with tempfile.TemporaryDirectory() as folder, _workspace(Path(folder) / "workspace", database, role) as store:
        print(f"On {database}{' by the voters’ role' if role else ''}:")
        wanted = -(-voters * votes // 1050)
        settings = VotingSettings(task_size=10, tasks_per_voter=50, votes_per_comparison=wanted, examples=False)
        _, code = make_voting(store, settings, tokens=TOKENS, appearances=APPEARANCES)
        server = VotingServer(store.folder)
        server.start()
        try:
            people = [HttpVoter("127.0.0.1", server.port, code, f"Voter {n}", think) for n in range(voters - browsers)]
            seen: list[int] = []
            stopped: list[str] = []
            ready = threading.Event()
            arguments = (server.url, code, browsers, votes, think, seen, ready, stopped)
            window = threading.Thread(target=_browse, args=arguments)
            window.start()
            ready.wait(120)  # the start of a browser on the same machine is not what is measured
            begun = time.perf_counter()
            asyncio.run(all_vote(people, votes))
            window.join()
            took = time.perf_counter() - begun
        finally:
            server.kill()
        confirmed = {person.name: len(person.confirmed) for person in people}
        confirmed |= {f"Browser {n}": done for n, done in enumerate(seen)}
        faults = stopped + _faults(store, confirmed, voters, votes, wanted)
        settings = replace(settings, votes_per_comparison=3)
        _, code = make_voting(store, settings, tokens=TOKENS, appearances=2)
        lost = [_killed(store, server, code, number) for number in range(kills)]
        faults += [f"LOST AT A KILL: {n} confirmed votes" for n in lost if n]
        seconds = np.array([s for person in people for s in person.seconds]) * 1000
    p50, p99 = np.percentile(seconds, [50, 99])
    pace = voters * votes / took
    print(f"{voters} voters ({browsers} in Chromium), {votes} votes each, {took:.0f} s, {pace:.0f} votes/s")
    print(f"answer to next: p50 {p50:.1f} ms, p99 {p99:.1f} ms, longest {seconds.max():.0f} ms")
    print(f"within p50 {P50_MS:.0f} ms and p99 {P99_MS:.0f} ms: {'yes' if p50 < P50_MS and p99 < P99_MS else 'NO'}")
    print(f"killed in mid-vote {kills} times: {sum(n == 0 for n in lost)} times no confirmed vote was lost")
    print("\n".join(faults) or "no vote lost or doubled, every comparison within one vote of its target")
    sys.exit(1 if faults else 0)


@contextmanager
def _workspace(folder: Path, database: str, role: bool) -> Iterator[Store]:
    """A workspace on SQLite, or on a PostgreSQL server with its files on the disk."""
    if database == "sqlite":
        yield open_store(folder)
        return
    from tests.postgres_server import SAFE, postgres_server

    with postgres_server(SAFE, in_memory=False) as server:
        name = server.create()
        os.environ["RUNOFF_DATABASE_URL"] = server.url(name).render_as_string()
        store = open_store(folder)
        if role:
            grant_role(store, "voters_of_a_soak")
            os.environ["RUNOFF_VOTING_DATABASE_URL"] = server.url(name, "voters_of_a_soak").render_as_string()
        try:
            yield store
        finally:
            store.engine.dispose()


def _killed(store: Store, server: VotingServer, code: str, number: int) -> int:
    """Kill the server while somebody votes; how many votes were confirmed and aren't in the store."""
    server.start()
    voter = HttpVoter("127.0.0.1", server.port, code, f"Killed {number}")
    voting = threading.Thread(target=lambda: asyncio.run(_until_refused(voter)))
    voting.start()
    while not voter.confirmed and voting.is_alive():
        time.sleep(0.001)
    time.sleep(0.003 * number)
    server.kill()
    voting.join(60)
    a, v = t.assignment.c, t.voter.c
    query = sa.select(sa.func.count()).select_from(t.judgement).join(t.assignment, a.id == t.judgement.c.assignment_id)
    with store.read() as conn:
        kept = conn.execute(query.join(t.voter, v.id == a.voter_id).where(v.external_id == voter.name)).scalar_one()
    return max(len(voter.confirmed) - kept, 0) + max(kept - len(voter.confirmed) - 1, 0)


async def _until_refused(voter: HttpVoter) -> None:
    with suppress(OSError, asyncio.IncompleteReadError):
        await voter.vote(30)


def _browse(
    url: str,
    code: str,
    browsers: int,
    votes: int,
    think: float,
    seen: list[int],
    ready: threading.Event,
    stopped: list[str],
) -> None:
    """Voters in one Chromium, in turn: each taps a card and waits for the next comparison.

    What stopped them early goes to `stopped`, with what the page showed then.
    """
    if not browsers:
        ready.set()
        return
    from playwright.sync_api import Error as PlaywrightError
    from playwright.sync_api import expect, sync_playwright

    from tests.browser.server import CHROMIUM_ARGUMENTS, find_chromium

    expect.set_options(timeout=30_000)  # a busy machine makes them slow, and that is no lost vote

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_ARGUMENTS)
        pages = []
        for number in range(browsers):
            page = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True).new_page()
            page.goto(f"{url}/v/{code}")
            page.get_by_label("Your name").fill(f"Browser {number}")
            page.get_by_role("button", name="begin").click()
            pages.append(page)
        seen += [0] * browsers
        ready.set()
        try:
            for vote in range(votes):
                for number, page in enumerate(pages):
                    if page.get_by_role("button", name="Go on with more").count():
                        page.get_by_role("button", name="Go on with more").click()
                    expect(page.locator("#count")).to_have_text(f"{vote % 10 + 1} of 10")
                    page.wait_for_timeout(max(400.0, think * 1000 / browsers))
                    page.locator(".ro-card").nth(vote % 2).tap()
                    if vote % 10 == 9:
                        page.get_by_role("heading", name="All of these are done").wait_for()
                    else:
                        expect(page.locator("#count")).to_have_text(f"{vote % 10 + 2} of 10")
                    seen[number] += 1
        except (AssertionError, PlaywrightError) as problem:
            shown = " ".join(pages[sum(seen) % browsers].inner_text("body").split())
            stopped.append(
                f"STOPPED: the browsers after {sum(seen)} votes: {str(problem)[:200]} The page: {shown[:300]}"
            )
        browser.close()


def _faults(store: Store, confirmed: dict[str, int], voters: int, votes: int, wanted: int) -> list[str]:
    """What went wrong, in sentences."""
    j, a, v, q = t.judgement.c, t.assignment.c, t.voter.c, t.question.c
    with store.read() as conn:
        query = sa.select(v.external_id, j.question_id, j.status).join(t.assignment, a.id == j.assignment_id)
        rows = conn.execute(query.join(t.voter, v.id == a.voter_id)).all()
        counts = conn.execute(sa.select(q.n_votes, q.n_dealt)).all()
    faults = []
    kept = Counter(row.external_id for row in rows if row.status == "counted")
    if kept != confirmed:
        faults.append(f"LOST OR ADDED: confirmed {sum(confirmed.values())}, stored {sum(kept.values())}")
    if len({(row.external_id, row.question_id) for row in rows}) != len(rows):
        faults.append("DOUBLED: a voter has two votes on one comparison")
    if len(rows) != voters * votes:
        faults.append(f"FEWER: {len(rows)} of {voters * votes} votes were given")
    spread = {row.n_votes for row in counts}
    if not spread <= {wanted, wanted - 1}:
        faults.append(f"UNEVEN: comparisons have {sorted(spread)} votes, the target is {wanted}")
    return faults


if __name__ == "__main__":
    main()
