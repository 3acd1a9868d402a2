"""What the app tells when it starts: its address, and whether a browser could be opened."""

from __future__ import annotations

import logging

import pytest
import streamlit as st

from ui import start


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    given: dict[str, object] = {"server.address": "localhost", "server.port": 8501}
    monkeypatch.setattr(st, "get_option", given.__getitem__)
    return given


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Addresses that a browser was opened on."""
    addresses: list[str] = []
    monkeypatch.setattr(start.webbrowser, "open", lambda url: addresses.append(url) or True)
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(start.sys, "platform", "linux")
    return addresses


def test_the_address_is_told_and_no_browser_opened(settings, opened, capsys):
    start.announce(browser=False)
    assert capsys.readouterr().out == "Runoff is open at http://localhost:8501. Ctrl-C ends it.\n"
    assert opened == []


@pytest.mark.parametrize(("host", "url"), [("127.0.0.1", "http://127.0.0.1:8501"), ("::1", "http://[::1]:8501")])
def test_addresses(settings, opened, capsys, host, url):
    settings["server.address"] = host
    start.announce(browser=False)
    assert f" {url}. " in capsys.readouterr().out


@pytest.mark.parametrize("host", ["0.0.0.0", "::", None])
def test_all_networks_have_no_one_address(settings, opened, capsys, host):
    settings["server.address"] = host
    start.announce(browser=True)
    assert "on port 8501 of every network" in capsys.readouterr().out
    assert opened == []


def test_a_browser_is_opened_where_there_is_a_screen(opened, capsys, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":0")
    start._open_browser("http://localhost:8501")
    assert opened == ["http://localhost:8501"]
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("display", ["", ":0"])
def test_a_missing_browser_is_told(opened, capsys, monkeypatch, display):
    """Without a screen only browsers for terminals could be found; with one there may still be none."""
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.setattr(start.webbrowser, "open", lambda url: opened.append(url))
    start._open_browser("http://localhost:8501")
    assert capsys.readouterr().out.startswith("There is no browser here that could be opened: open http://localhost")
    assert len(opened) == bool(display)


def test_the_server_says_only_what_is_wrong(caplog):
    logger = logging.getLogger("uvicorn.error")
    before = logger.level
    try:
        start.silence_server()
        assert not logger.isEnabledFor(logging.INFO)
        assert logger.isEnabledFor(logging.WARNING)
    finally:
        logger.setLevel(before)
