"""Jinja2 templates: what they print is escaped, and a name that isn't given is an error.

Templates lie in the folder `templates` beside the modules that render them, `NAME.html.j2` or `NAME.md.j2`. Style and
scripts are files of their own: they are put into a page as they are, never rendered.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import jinja2
from markupsafe import Markup


@cache
def environment(package: str, escape: Callable[[str], str] | None = None) -> jinja2.Environment:
    """The templates of a package, given as its `__package__`.

    `escape` writes a value that isn't markup into the page, in place of HTML's own escaping; whatever it leaves bare
    is markup then. A line that holds nothing but `{% … %}` leaves nothing, not even its end.
    """
    return jinja2.Environment(
        loader=jinja2.PackageLoader(package),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=None if escape is None else partial(_escaped, escape),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )


def _escaped(escape: Callable[[str], str], value: Any) -> Any:
    if hasattr(value, "__html__"):
        return value
    return Markup(escape(str(value)))  # nosec B704 # escaped, if otherwise
