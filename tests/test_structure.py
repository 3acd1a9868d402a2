"""The shape of the code: who may import whom, no cycles, pages that only lay out, who speaks other languages."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests import rooms, syntax
from tests.rooms import name_of

ROOT = Path(__file__).parents[1]
CORE = ROOT / "core"
# Modules of pages that ask for another language: what voters read is chosen, edited or opened there.
ABOUT_VOTERS = {"collecting_box", "round_form", "voting_box", "voting_form", "wording_form"}
FILES = sorted(CORE.rglob("*.py"))
MODULES = {name_of(path): path for path in FILES}


def imported_by(path: Path, nodes: rooms.Nodes = syntax.nodes) -> set[str]:
    """All that a file imports, in functions too: modules, and names as `module.name`."""
    return {name for origin, taken in rooms.imports(path, nodes=nodes) for name in (origin, *taken)}


def imported_at_start(path: Path) -> set[str]:
    """All that a file imports when it is imported itself."""
    return imported_by(path, lambda of: at_import(syntax.tree(of).body))


def at_import(body: list[ast.stmt]):
    """Statements that run at import: not those of functions, nor what only type checkers read."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        for part in ("body", "orelse", "handlers", "finalbody"):
            for inner in getattr(node, part, []):
                yield from at_import([inner] if isinstance(inner, ast.stmt) else inner.body)


@syntax.reads_the_code
def test_no_two_modules_need_each_other_to_be_imported():
    # A module's own package is being imported when the module is: `from . import other` needs the other one only.
    graph = {
        name: {other for other in imported_at_start(path) & MODULES.keys() if not f"{name}.".startswith(f"{other}.")}
        for name, path in MODULES.items()
    }
    done: set[str] = set()

    def visit(name: str, way: tuple[str, ...]) -> None:
        if name in way:
            pytest.fail(" → ".join([*way[way.index(name) :], name]))
        if name not in done:
            for other in sorted(graph[name]):
                visit(other, (*way, name))
            done.add(name)

    sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))
    for name in sorted(graph):
        visit(name, ())


@syntax.reads_the_code
def test_the_library_knows_no_page():
    above = {"streamlit", "ui", "pages", "voting", "tests"}
    for path in FILES:
        wrong = {name for name in imported_by(path) if name.split(".")[0] in above}
        assert not wrong, f"{path.relative_to(ROOT)} imports {', '.join(sorted(wrong))}"


@syntax.reads_the_code
def test_no_process_begins_with_parts_of_scipy_that_few_need():
    """They take a fourth of what a worker or the voting page's server takes to start."""
    heavy = {f"scipy.{name}" for name in ("fft", "integrate", "interpolate", "ndimage", "optimize", "spatial", "stats")}
    found = {
        path.relative_to(ROOT).as_posix()
        for folder in ("core", "ui", "pages", "voting")
        for path in (ROOT / folder).rglob("*.py")
        if heavy & imported_at_start(path)
    }
    assert found == set()


def test_pages_only_lay_out():
    """No page sums, groups or catches whatever there may be."""
    for path in sorted((ROOT / "pages").glob("*.py")):
        text = path.read_text("utf-8")
        for word in ("groupby(", ".merge(", "except Exception", "sqlalchemy", "core.store.schema"):
            assert word not in text, f"{path.name} has {word}"


@syntax.reads_the_code
def test_one_module_reads_catalogues_and_they_are_the_voters():
    """The owner's app is English, and its texts stand where they are shown; voters have languages."""
    catalogues = ("gettext", "babel")
    asks = {
        str(path.relative_to(ROOT))
        for folder in ("core", "ui", "pages", "voting")
        for path in (ROOT / folder).rglob("*.py")
        if any(name.split(".")[0] in catalogues for name in imported_by(path))
    }
    assert asks == {"core/i18n.py"}
    assert not [path for folder in ("core", "ui") for path in (ROOT / folder).rglob("spoken.py")]
    assert {path.name.count(".") for path in (CORE / "languages").glob("*.po")} == {1}  # it.po, and none of the app


@syntax.reads_the_code
def test_of_the_pages_only_what_is_about_voters_asks_for_a_language():
    asks = {
        path.stem
        for folder in ("ui", "pages")
        for path in (ROOT / folder).rglob("*.py")
        if any(name.startswith("core.i18n") for name in imported_by(path))
    }
    assert asks == ABOUT_VOTERS


def test_the_fast_part_names_modules_that_need_no_page_server_or_browser():
    """`make test-fast` runs what tests/fast.txt lists, in order of name, so that it merges well."""
    listed = (ROOT / "tests" / "fast.txt").read_text("utf-8").split()
    assert listed == sorted(set(listed))
    paths = {path.name: path for path in (ROOT / "tests").rglob("test_*.py")}
    for name in set(listed) - {Path(__file__).name}:
        text = paths[name].read_text("utf-8")
        for word in (
            "AppTest",
            "playwright",
            "pytest.mark.browser",
            "pytestmark = pytest.mark.release",
            "turkle_server",
        ):
            assert word not in text, f"{name} has {word}"


DRAWN = {
    "error",
    "warning",
    "info",
    "success",
    "markdown",
    "caption",
    "write",
    "subheader",
    "metric",
    "progress",
}
# What an error, a job or a figure that couldn't be computed says: it may repeat names, texts and cells.
TELLING = {"error", "strerror", "problem", "problems", "reason", "why_not", "why_open", "needs_trust"}


def bare(node: ast.AST, tainted: set[str]) -> bool:
    """Whether an expression holds what an error says, outside a call of `plain`."""
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in ("plain", "type", "bool", "len", "isinstance"):
            return False
        return any(bare(each, tainted) for each in [*node.args, *(keyword.value for keyword in node.keywords)])
    if isinstance(node, ast.Name):
        return node.id in tainted
    if isinstance(node, ast.Attribute):
        return node.attr in TELLING or bare(node.value, tainted)
    if isinstance(node, ast.IfExp):  # what it hangs on isn't drawn
        return bare(node.body, tainted) or bare(node.orelse, tainted)
    return any(bare(each, tainted) for each in ast.iter_child_nodes(node))


def drawn_bare(function: ast.AST) -> list[str]:
    """The calls of a function that draw as Markdown what an error says."""
    tainted: set[str] = set()
    nodes = list(ast.walk(function))
    for _ in range(3):  # a name may get it by way of others
        for node in nodes:
            if isinstance(node, ast.ExceptHandler) and node.name:
                tainted.add(node.name)
            elif (
                isinstance(node, ast.arg)
                and node.annotation
                and re.search("Error|Exception", ast.unparse(node.annotation))
            ):
                tainted.add(node.arg)
            elif isinstance(node, ast.Assign) and bare(node.value, tainted):
                tainted |= {target.id for target in node.targets if isinstance(target, ast.Name)}
            elif isinstance(node, ast.For | ast.comprehension) and bare(node.iter, tainted):
                tainted |= {name.id for name in ast.walk(node.target) if isinstance(name, ast.Name)}
    calls = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    return [
        ast.unparse(call)
        for call in calls
        if call.func.attr in DRAWN and ast.unparse(call.func.value) != "log"
        and any(bare(each, tainted) for each in [*call.args, *(k.value for k in call.keywords)])
    ]  # fmt: skip


MOST_PARAMETERS = 7
# Functions of more: what notebooks call, the loops of simulations, and the voting page. A line goes with the parameters
# that it excuses; none is added.
MANY_PARAMETERS = {
    "core.embeddings.loading.load",
    "core.evaluation.chance.critical_values",
    "core.scores.bradley_terry.fit_bradley_terry",
    "core.simulation.campaign.simulate_campaigns",
    "core.simulation.forecast.forecast",
    "core.simulation.search.recommend",
    "core.simulation.table2.table_2",
    "core.store.votes.intake.accept_upload",
    "core.voters.model.answer",
    "core.voters.model.opinions_asked",
    "core.voting.api.begin",
    "core.voting.api.vote",
}


def defined_twice(pattern: str, folders: Iterable[str]) -> dict[str, list[str]]:
    """The names that several modules define at their top level, with the modules."""
    places: dict[str, list[str]] = {}
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for name in set(re.findall(pattern, path.read_text("utf-8"), re.MULTILINE)):
                places.setdefault(name, []).append(name_of(path))
    return {name: modules for name, modules in places.items() if len(modules) > 1}


def test_one_name_is_one_thing():
    """A class of one name stands once in the house; so does, in the library, what reads, writes or draws something."""
    assert defined_twice(r"^class ([A-Z]\w*)", ("core", "ui", "pages", "voting")) == {}
    assert defined_twice(r"^def ((?:read|write|draw)_\w+)", ("core",)) == {}


def is_click_command(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(re.search(r"\b(command|option|argument)\(", ast.unparse(each)) for each in function.decorator_list)


@syntax.reads_the_code
def test_functions_take_seven_parameters_at_most():
    """Options behind which one idea stands are a frozen dataclass; options that nobody passes are constants."""
    long = set()
    for path in [*FILES, *(path for folder in ("ui", "pages", "voting") for path in (ROOT / folder).rglob("*.py"))]:
        for node in syntax.nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_click_command(node):
                given = node.args
                names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
                n = sum(name not in ("self", "cls") for name in names) + bool(given.vararg) + bool(given.kwarg)
                if n > MOST_PARAMETERS:
                    long.add(f"{name_of(path)}.{node.name}")
    assert sorted(long - MANY_PARAMETERS) == [], "give the options that belong together one frozen dataclass"
    assert sorted(MANY_PARAMETERS - long) == [], "these are gone: take their lines off"


@syntax.reads_the_code
def test_what_an_error_says_is_drawn_as_text():
    """It may repeat a file's name, a cell, a token: `frame.show_error`, `frame.flash` and `frame.plain` keep it so."""
    found = {}
    for path in [*(ROOT / "ui").rglob("*.py"), *(ROOT / "pages").glob("*.py"), ROOT / "app.py"]:
        parts: list[ast.AST] = [node for node in syntax.nodes(path) if isinstance(node, ast.FunctionDef)]
        apart = ast.FunctionDef | ast.ClassDef
        parts.append(ast.Module([node for node in syntax.tree(path).body if not isinstance(node, apart)], []))
        if calls := sorted({call for part in parts for call in drawn_bare(part)}):
            found[path.relative_to(ROOT).as_posix()] = calls
    assert found == {}


@pytest.mark.parametrize(
    "code",
    [
        "try:\n    f()\nexcept E as wrong:\n    st.error(str(wrong))",
        "st.warning(say('{why}', why=job.error))",
        "told = f'{name}: {found.problem}'\nst.caption(told)",
        "def f(told: InputError):\n    st.error(say('{why}', why=told))",
        "for one in view.problems:\n    place.markdown(f'- {one}')",
    ],
)
def test_bare_errors_are_seen(code):
    assert len(drawn_bare(ast.parse(code))) == 1
    assert drawn_bare(ast.parse(code.replace("str(wrong)", "plain(str(wrong))").replace("say(", "plain(")
        .replace("(told)", "(frame.plain(told))").replace("{one}", "{frame.plain(one)}"))) == []  # fmt: skip
