"""What the pages of the documentation point to is there: files, headings, modules, commands, options, targets."""

from __future__ import annotations

import importlib.util
import re
import shlex
import unicodedata
from pathlib import Path

import click
import yaml

from core.__main__ import cli
from voting.__main__ import main as serve_voters

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = [
    ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "data/SOURCE.md")
]
PAGES = [*OUTSIDE, *sorted((ROOT / "docs").rglob("*.md"))]
FOLDERS = "core|ui|pages|voting|docs|tests|bench|examples|data"
MADE = re.compile(
    r"tests/browser/shots|bench/out|data/(test|dev|all|votes|comparisons)\.parquet|data/\*\.parquet"
)  # made, or of a zip
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(rf"(?<![\w./-])((?:{FOLDERS})/[\w./*-]*[\w*])")
COMMAND = re.compile(r"^(?:\$ |- run: )?(?:[.\w/]*python3?|runoff) .*", re.MULTILINE)

TEXTS = {page: page.read_text(encoding="utf-8") for page in PAGES}


def named(found: dict[Path, list]) -> dict[str, list]:
    """The pages where something was found."""
    return {page.relative_to(ROOT).as_posix(): faults for page, faults in found.items() if faults}


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as the site and the usual hosts of repositories make them."""
    text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text(encoding="utf-8"))
    found: set[str] = set()
    for heading in re.findall(r"(?m)^#{1,6} (.+)$", text):
        plain = unicodedata.normalize("NFKD", re.sub(r"[`*]", "", heading)).encode("ascii", "ignore").decode()
        found.add(re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower()))
    return found


def faulty_links(page: Path, text: str) -> list[str]:
    """Relative links of a page whose file or heading is missing."""
    wrong = []
    for target in LINK.findall(re.sub(r"(?ms)^```.*?^```$|`[^`\n]*`", "", text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            wrong.append(target)
    return wrong


def faulty_paths(text: str) -> list[str]:
    """Paths of the project, in code, that aren't there."""
    code = re.findall(r"`([^`\n]+)`", re.sub(r"(?ms)^```.*?^```$", "", text))
    paths = {path for part in code for path in PATH.findall(part) if not MADE.search(part)}
    return sorted(path for path in paths if "…" not in path and not any(ROOT.glob(path)))


def faulty_command(line: str) -> str | None:
    """What is wrong with a command as a page shows it, or None. Commands of other programs are none of ours."""
    words = shlex.split(line.replace("[", "").replace("]", "").replace("…", ""), comments=True)
    if words[0].endswith(("python", "python3")):
        if words[1:2] != ["-m"] or words[2] in ("venv", "pip"):
            return None
        if words[2] != "core":
            module = re.sub(r"^runoff\.page\b", "voting", words[2])  # its name once installed
            return None if importlib.util.find_spec(module) else f"no module {words[2]}"
        words = words[2:]
    apps = {option: parameter for parameter in cli.params for option in parameter.opts}
    while words[1:] and words[1].startswith("--"):  # the app's own, before a command if there is one
        if words[1] not in apps:
            return f"the app has no {words[1]}"
        del words[1 : 2 if apps[words[1]].is_flag else 3]
    if len(words) < 2 or words[1] not in cli.commands:
        return None if words[1:2] in (["COMMAND"], []) else f"no command {words[1]}"
    command: click.Command = serve_voters if words[1] == "vote" else cli.commands[words[1]]
    while isinstance(command, click.Group):  # a command of commands
        words = words[1:]
        if words[1:2] in (["COMMAND"], []):
            return None
        if words[1] not in command.commands:
            return f"no command {words[0]} {words[1]}"
        command = command.commands[words[1]]
    known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
    unknown = [word for word in words[2:] if re.match(r"--\w", word) and word.split("=")[0] not in known]
    return f"{words[1]} has no {unknown[0]}" if unknown else None


def commands(text: str) -> list[str]:
    """The commands in a page's code, one a line: of fences and indented blocks, and in the midst of a sentence."""
    fenced = re.findall(r"(?ms)^```sh\n(.*?)^```$", text)
    indented = re.findall(r"(?m)^    +(\S.*)$", text)
    inline = re.findall(r"`((?:python -m|runoff) [^`\n]+)`", text)
    lines = [line for part in (*fenced, *indented, *inline) for line in part.splitlines()]
    return [re.sub(r"^(\$ |- run: )", "", line) for line in lines if COMMAND.match(line)]


def test_links_lead_somewhere():
    assert named({page: faulty_links(page, text) for page, text in TEXTS.items()}) == {}


def test_files_that_are_named_are_there():
    assert named({page: faulty_paths(text) for page, text in TEXTS.items()}) == {}


def test_commands_and_their_options_exist():
    lines = {page: commands(text) for page, text in TEXTS.items()}
    assert sum(map(len, lines.values())) > 50
    faults = {page: [(line, fault) for line in of if (fault := faulty_command(line))] for page, of in lines.items()}
    assert named(faults) == {}


def test_targets_of_make_exist():
    targets = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8")))
    found = {
        page: re.findall(r"`make ([a-z-]+)", text) + re.findall(r"(?m)^    make ([a-z-]+)", text)
        for page, text in TEXTS.items()
    }
    assert named({page: sorted(set(names) - targets) for page, names in found.items()}) == {}


def test_every_page_is_in_the_navigation():
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))

    def pages(part) -> list[str]:
        if isinstance(part, str):
            return [part]
        return [page for value in (part.values() if isinstance(part, dict) else part) for page in pages(value)]

    listed = pages(config["nav"])
    own = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    made = {"index.md", "architecture.md", "changes.md", "contributing.md", "demo-data.md"}
    assert sorted(listed) == sorted(own | made)


def test_pictures_are_small_and_each_is_shown():
    """Made by `make screenshots`; what no page shows would only age."""
    pictures = sorted((ROOT / "docs" / "pictures").glob("*.png"))
    shown = {name for text in TEXTS.values() for name in re.findall(r"!\[[^\]]+\]\((\S+?)\)", text)}
    assert {path.name for path in pictures} == {Path(name).name for name in shown}
    assert sum(path.stat().st_size for path in pictures) < 3_000_000


def test_modules_of_the_reference_exist():
    modules = [
        name
        for page in (ROOT / "docs" / "api").glob("*.md")
        for name in re.findall(r"(?m)^::: (\S+)", page.read_text())
    ]
    assert modules
    assert [name for name in modules if importlib.util.find_spec(name) is None] == []


def test_faults_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Here & there\n", encoding="utf-8")
    text = "[a](page.md#here-there) [b](#here-there) [c](gone.md) [d](page.md#gone) [e](https://example.org/gone)"
    assert faulty_links(page, text) == ["gone.md", "page.md#gone"]
    assert faulty_paths("`core/metrics.py`, `core/gone.py`, `core/store/`") == ["core/gone.py"]
    told = ["evaluate a.csv b.vec --json", "evaluate a.csv --gone", "gone", "plan --items 10 --ballots=3"]
    assert [faulty_command(f"python -m core {line}") for line in told] == [
        None,
        "evaluate has no --gone",
        "no command gone",
        None,
    ]
    assert faulty_command("python -m bench.gone") == "no module bench.gone"
