"""`python -m bench` (`make bench`): one table of speeds, all measured in this run, beside peers or limits.

--quick         small sizes: says that everything runs, not how fast
--no-browser    without the first start, the clicks and the installation, which need Chromium
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator

import click

from bench import bradley_terry, campaign, first_visit, imports, kernels, scale, simulation, tokens
from bench.table import Line, show


def all_lines(*, quick: bool, browser: bool) -> Iterator[Line]:
    """Every measurement, the clicks first, while nothing else has filled the memory."""
    if browser:
        from bench import clicks  # Playwright is needed for this part alone

        yield from clicks.lines()
        yield from clicks.installation()
    for part in (kernels, first_visit, bradley_terry, simulation, imports, campaign, tokens, scale):
        yield from part.lines(quick=quick)


def announced(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines, each told on stderr as soon as it is measured."""
    for line in lines:
        click.echo(f"{line.what}: {line.cells()[1]}", err=True)
        yield line


@click.command()
@click.option("--quick", is_flag=True, help="Small sizes, to see that everything runs.")
@click.option("--browser/--no-browser", default=True, help="With the first start, the clicks and the installation.")
def main(quick: bool, browser: bool) -> None:
    """Measure Runoff's speed and print one table."""
    lines = list(announced(all_lines(quick=quick, browser=browser)))
    click.echo(f"Runoff on {platform.machine()}, Python {platform.python_version()}\n\n{show(lines)}")
    if not quick and any(line.is_over for line in lines):
        raise SystemExit("A limit is not kept: see the lines that say OVER or UNDER.")


if __name__ == "__main__":
    main()
