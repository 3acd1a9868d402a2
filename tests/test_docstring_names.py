"""What docstrings and comments name is there: a module, a name in it, a member, a name of the code around, a column."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PARTS = ("core", "ui", "pages", "voting")
# A migration tells of what was.
FILES = [path for part in PARTS for path in sorted((ROOT / part).rglob("*.py")) if "versions" not in path.parts]
WORD = re.compile(r"[A-Za-z_]\w*")
TICKED = re.compile(r"`([^`\n]+)`")
REFERENCE = re.compile(r"(?:[A-Za-z_]\w*[./])*[A-Za-z_]\w*(?:\(\))?")  # no call with values, no command, no formula
CODE_LIKE = re.compile(r"[a-z]{2}[A-Z][a-z]|[a-z]{3}_[a-z]{3}")  # what no sentence has: CamelCase, snake_case
UNTICKED = re.compile(r"(?<![\w/.-])[A-Za-z]\w*(?:\.[A-Za-z_]\w*)*(?![\w/])")
NUMBERED = re.compile(r"_(?:n|k|\d+|lower|upper)$")  # one of a row of columns
FILE_NAMED = re.compile(r"[\w/.]*\w\.(?:py|md)\b(?!\.)")
COMMENT = re.compile(r"(?:^|  )\s*# (.*)$")
EXAMPLE = re.compile(r"(?m)^\s*(?:>>>|\.\.\.).*$")
# Other programs' names, and words of examples.
ELSEWHERE = {
    "AbsTask", "Answer", "CommonMark", "GitHub", "KeyedVectors", "Machine_learning", "NA", "RepEval", "TaskResult",
    "app", "dask", "datasets", "datasheet.md", "macroeconomics", "machine_learning", "max_score", "microeconomics",
    "min_score", "null", "rolling_pin", "runoff", "safetensors", "sentence_transformers", "taskAnswers", "templates",
    "true", "alembic_version", "core.py", "jobs_skills_simulated_1", "OPENBLAS_NUM_THREADS",
}  # fmt: skip


def docstrings(nodes: Sequence[ast.AST]) -> Iterator[ast.Constant]:
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            match node.body[0]:
                case ast.Expr(value=ast.Constant(value=str()) as found):
                    yield found


def names_in(nodes: Sequence[ast.AST]) -> set[str]:
    """Every name of some code, and the words of its texts, as those are columns, keys and variables of a page."""
    found: set[str] = set()
    said = {id(text) for text in docstrings(nodes)}
    for node in nodes:
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.alias(name=name, asname=other):
                found |= {*name.split("."), other or ""}
            case ast.Constant(value=str(text)) if id(node) not in said:
                found |= set(WORD.findall(text))
    return found


def stored_names(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        match inner:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.alias(name=name, asname=other):
                yield other or name


class Names:
    """The names of all code: of each file, of what lies in each folder, module and class, by its last name."""

    def __init__(self, files: dict[Path, str]) -> None:
        trees = {path: ast.parse(text) for path, text in files.items()}
        self.nodes = {path: list(ast.walk(tree)) for path, tree in trees.items()}
        self.of_file = {path: names_in(nodes) for path, nodes in self.nodes.items()}
        self.members: dict[str, set[str]] = defaultdict(set)
        self.bases: dict[str, set[str]] = defaultdict(set)
        for path, tree in trees.items():
            self._add(path, tree)
        self.defined = set(self.members).union(*self.members.values())
        self.used = set().union(*self.of_file.values())
        self.known = self.used | self.defined | ELSEWHERE

    def _add(self, path: Path, tree: ast.Module) -> None:
        parts = [part for part in path.with_suffix("").parts if part != "__init__"]
        for folder, inside in pairwise(parts):
            self.members[folder].add(inside)
        for statement in tree.body:
            is_scope = isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)
            self.members[parts[-1]] |= {statement.name} if is_scope else set(stored_names(statement))
            match statement:  # a table's columns, the values of a setting
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as made):
                    self.members[name] |= names_in(list(ast.walk(made)))
        for node in self.nodes[path]:
            if isinstance(node, ast.ClassDef):
                inner = {name.attr for name in ast.walk(node) if isinstance(name, ast.Attribute)}
                self.members[node.name] |= inner | set(stored_names(node))
                self.bases[node.name] |= {ast.unparse(base).split("[")[0].split(".")[-1] for base in node.bases}

    def has(self, owner: str, name: str, *past: str) -> bool:
        """Whether a module or a class, or a class that it is made from, has this name."""
        if name in self.members[owner]:
            return True
        return any(self.has(base, name, owner, *past) for base in self.bases[owner] - {owner, *past})

    def resolves(self, path: Path, reference: str) -> bool:
        """Whether a name in ticks is there; one with dots where each part has the next."""
        own = self.of_file[path]
        parts = [NUMBERED.sub("", part) for part in re.split(r"[./]", reference)]
        if parts[0] in ELSEWHERE:
            return True
        if len(parts) <= 1 or all(part in own for part in parts):
            return all(
                not part or part in own or part in self.defined or hasattr(builtins, part) or keyword.iskeyword(part)
                or ("_" in part and part in self.used)
                for part in parts
            )  # fmt: skip
        known = parts[0] in own or parts[0] in self.defined
        pairs = list(pairwise(parts))
        return known and all(self.has(one, two) if one in self.members else two in self.used for one, two in pairs)


def said_in(text: str, nodes: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    """The docstrings and comments of a file, with their lines."""
    for found in docstrings(nodes):
        yield found.lineno, EXAMPLE.sub("", str(found.value))
    for line, comment in enumerate(text.splitlines(), start=1):
        if found_here := COMMENT.search(comment):
            yield line, found_here[1]


def strange_names(path: Path, text: str, names: Names, there: set[str]) -> Iterator[str]:
    for line, said in said_in(text, names.nodes[path]):
        for ticked in TICKED.findall(said):
            reference = ticked.strip().removesuffix("()")
            is_file = re.search(r"\.(?:py|md|csv|json|html|yml|toml|txt|po|css|js|sqlite|log|safetensors)\b", reference)
            if REFERENCE.fullmatch(reference) and not is_file and not names.resolves(path, reference):
                yield f"{path}:{line}: `{reference}`"
        for word in UNTICKED.findall(TICKED.sub(" ", said)):
            parts = [NUMBERED.sub("", part) for part in word.split(".")]
            if CODE_LIKE.search(word) and not FILE_NAMED.search(word) and not names.known.issuperset(parts):
                yield f"{path}:{line}: {word}"
        for name in FILE_NAMED.findall(said):
            is_there = any(known == name or known.endswith(f"/{name}") for known in there)
            if not is_there and not name.isupper() and name not in ELSEWHERE and "NAME" not in name:
                yield f"{path}:{line}: the file {name}"


@pytest.mark.release  # some five seconds
def test_what_docstrings_and_comments_name_is_there():
    files = {path.relative_to(ROOT): path.read_text("utf-8") for path in FILES}
    names = Names(files)
    folders = ("core", "ui", "pages", "voting", "tests", "bench", "data", "docs")
    there = {path.relative_to(ROOT).as_posix() for part in folders for path in (ROOT / part).rglob("*.[pm][yd]")}
    there |= {path.name for path in ROOT.glob("*.[pm][yd]")}
    assert [found for path, text in files.items() for found in strange_names(path, text, names, there)] == []


CODE = '''"""{said}"""
from voters import Voters

class Plan(Base):
    seed = 1

def draw(plan):
    rows["weight"] = plan.size
'''


@pytest.mark.parametrize(
    ("said", "strange"),
    [
        ("Of a `Plan`, its `Plan.seed`, `draw`, `plan.size`, the column `weight`; `Voters`.", []),
        ("A `Ballot`.", ["`Ballot`"]),
        ("A `Plan.seeds`.", ["`Plan.seeds`"]),
        ("As `plan.Old` has it; `old.draw`.", ["`plan.Old`", "`old.draw`"]),
        ("A BallotPlan of draw_all (`python -m x`).", ["BallotPlan", "draw_all"]),
        ("See core/old.py, core/plan.py and plan.py.", ["the file core/old.py"]),
        ("Columns `weight_n` and `weight_1`, each a `float`.", []),
    ],
)  # fmt: skip
def test_strange_names_are_seen(said, strange):
    path = Path("core/plan.py")
    names = Names({path: CODE.format(said=said)})
    found = strange_names(path, CODE.format(said=said), names, {"core/plan.py"})
    assert [one.split(": ", 1)[1] for one in found] == strange
