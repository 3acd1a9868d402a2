"""Templates: what they print is escaped, in macros too, and nothing is left out in silence."""

from __future__ import annotations

from pathlib import Path

import jinja2
import pytest
from jinja2 import nodes
from markupsafe import Markup

from core.base.templating import environment
from core.i18n import language
from core.votes.reading import encode

ROOT = Path(__file__).resolve().parents[2]
ODD = "<b>'$&\"</b> {{ 7 * 7 }}"


@pytest.mark.parametrize(
    ("escape", "written"),
    [
        (None, "&lt;b&gt;&#39;$&amp;&#34;&lt;/b&gt; {{ 7 * 7 }}"),
        (encode, "&lt;b&gt;&#x27;&#x24;&amp;&quot;&lt;/b&gt; {{ 7 * 7 }}"),
    ],
)
def test_values_are_escaped_once_wherever_they_are_printed(escape, written):
    source = (
        "{% macro p(x) %}<p>{{ x }}</p>{% endmacro %}{{ p(odd) }}{{ [p(odd)]|join }}{{ mine }}"
        "{{ language.html('<i>{x}</i>', x=p(odd)) }}"
    )
    page = environment("core.questions", escape).from_string(source)
    shown = page.render(odd=ODD, mine=Markup("<hr>"), language=language("it"))
    assert shown == f"<p>{written}</p>" * 2 + "<hr>" + f"<i><p>{written}</p></i>"


def test_a_text_with_markup_escapes_what_is_put_into_it():
    assert language("en").html("<i>{x}</i>", x=ODD) == "<i>&lt;b&gt;&#39;$&amp;&#34;&lt;/b&gt; {{ 7 * 7 }}</i>"


def test_a_name_that_is_not_given_is_an_error():
    with pytest.raises(jinja2.UndefinedError, match="nothing"):
        environment("core.questions").from_string("{% if nothing %}{% endif %}").render()


# What pages print as it is: files of ours, pages and boxes that other templates made, JSON that can't end its script.
AS_THEY_ARE = {
    *("asset()", "css", "page.script()", "settings.page.inside()", "task", "first", "data", "<br>\n"),
    ' min="{:g}" max="{:g}" step="{:g}".format()',
}


def described(node: nodes.Node) -> str:
    if isinstance(node, nodes.Call):
        return f"{described(node.node)}()"
    if isinstance(node, nodes.Getattr):
        return f"{described(node.node)}.{node.attr}"
    return str(node.value) if isinstance(node, nodes.Const) else node.name


def test_what_a_page_prints_without_escaping_is_known():
    found = set()
    for path in (*ROOT.glob("core/**/*.html.j2"), *ROOT.glob("voting/**/*.html.j2")):
        filters = jinja2.Environment(autoescape=True).parse(path.read_text(encoding="utf-8")).find_all(nodes.Filter)
        found |= {described(one.node) for one in filters if one.name == "safe"}
    assert found == AS_THEY_ARE
