"""`python -m bench.pythons PYTHON…`: whether other versions of Python come to the same bytes, and pass the same tests.

Each PYTHON is the interpreter of an environment with Runoff's requirements (and pytest, hypothesis, choix, PyYAML).
This interpreter and each of them draw ballots, fit, bootstrap, simulate and write a dataset from fixed seeds; hashes
are compared. With `--tests` each of them also runs the tests of what computes. Exits with 1 where anything differs.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).resolve().parents[1]
TESTS = (
    *("metrics", "scores", "ballots", "simulation_drawing", "bradley_terry", "uncertainty", "agreement", "dataset"),
    *("formats", "replay", "recompute", "archive", "published", "platforms", "tokens", "items", "plan", "metamorphic"),
)


def _hash(*parts: Any) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(part if isinstance(part, bytes) else repr(part).encode())
    return found.hexdigest()[:16]


def fingerprint() -> dict[str, str]:
    """A hash of each kind of result, from fixed seeds."""
    import numpy as np

    from core.ballots import draw_comparisons
    from core.metrics import weighted_kendall, weighted_spearman
    from core.plan import Plan
    from core.scores import borda, fit_bradley_terry
    from core.simulation import simulate_campaign
    from core.simulation.similarities import distribution

    rng = np.random.default_rng(5)
    pairs = draw_comparisons(np.arange(60), 12, rng=rng)
    outcome = rng.choice([0.0, 0.5, 1.0], len(pairs))
    fit = fit_bradley_terry(pairs[:, 0], pairs[:, 1], outcome, n_items=60)
    x, y = rng.normal(size=(2, 500)).round(1)
    plan = Plan(n_items=80, n_ballots=3, keep=0.5, appearances=6)
    found = {
        "draw": _hash(pairs.tobytes()),
        "borda": _hash(borda(pairs[:, 0], pairs[:, 1], outcome, n_items=60).tobytes()),
        "bradley_terry": _hash(fit.theta.round(12).tobytes()),
        "metrics": _hash(weighted_spearman(x, y), weighted_kendall(x, y)),
    }
    for protocol in ("paper", "uniform", "runoff"):
        similarity = distribution("exponential", 80)
        made = simulate_campaign(similarity, plan, protocol=protocol, rng=np.random.default_rng(3))
        found[f"simulated {protocol}"] = _hash(np.asarray(made.scores).round(12).tobytes())
    return found | _whole_way()


def _whole_way() -> dict[str, str]:
    """The batches and the dataset of a campaign of two ballots, and the dataset as Parquet."""
    sys.path.insert(0, str(ROOT / "tests"))
    from core.store.engine import open_apart
    from tests.test_metamorphic import campaign

    with tempfile.TemporaryDirectory() as folder, open_apart(Path(folder)) as store:
        run = campaign(store)
    return {"batches": _hash(*run.batches), "dataset": _hash(run.csv)}


def _of(python: str) -> dict[str, str]:
    command = [python, "-m", "bench.pythons", "--fingerprint"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise click.ClickException(f"{python}: {done.stderr[-2000:]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


THERE = "not browser and not release and not libraries"


@click.command()
@click.argument("pythons", nargs=-1)
@click.option("--tests", is_flag=True, help="Run the tests of what computes with each of them, too.")
@click.option("--fingerprint", "only_print", is_flag=True, help="Write this interpreter's hashes as JSON.")
def main(pythons: tuple[str, ...], tests: bool, only_print: bool) -> None:
    """Compute everywhere, compare."""
    if only_print:
        click.echo(json.dumps(fingerprint()))
        return
    ours, failed = _of(sys.executable), False
    click.echo(f"{sys.version.split()[0]}: {len(ours)} kinds of results")
    for python in pythons:
        theirs = _of(python)
        differ = [name for name in ours if theirs.get(name) != ours[name]]
        version = subprocess.run([python, "-V"], capture_output=True, text=True).stdout.split()[-1]
        click.echo(f"{version}: {'the same bytes' if not differ else 'differs in ' + ', '.join(differ)}")
        failed = failed or bool(differ)
        if tests:
            files = [str(path) for name in TESTS for path in (ROOT / "tests").rglob(f"test_{name}.py")]
            command = [
                python,
                "-m",
                "pytest",
                "-q",
                "-p",
                "no:cacheprovider",
                "-m",
                "not browser and not release and not libraries",
                *files,
            ]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
            click.echo(f"{version}: {done.stdout.strip().splitlines()[-1]}")
            if done.returncode:
                click.echo("\n".join(line for line in done.stdout.splitlines() if line.startswith("FAILED")))
            failed = failed or bool(done.returncode)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
