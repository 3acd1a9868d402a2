"""What every answer of the owner's app says to browsers, asked of the real server."""

from __future__ import annotations

from urllib.request import urlopen

import pytest

from tests.browser.server import Server


@pytest.mark.parametrize("path", ["/", "/project", "/_stcore/health", "/nothing.js"])
@pytest.mark.release
def test_no_page_elsewhere_can_have_the_app_in_a_frame(server: Server, path: str) -> None:
    """There the owner could be led to press a button without seeing it."""
    with urlopen(f"http://localhost:{server.port}{path}", timeout=30) as answer:
        told = answer.headers
    assert told["Content-Security-Policy"] == "frame-ancestors 'self'"
    assert told["X-Frame-Options"] == "SAMEORIGIN"
    assert told["X-Content-Type-Options"] == "nosniff"
    assert told["Cross-Origin-Resource-Policy"] == "same-origin"
    assert told["Referrer-Policy"] == "same-origin"
