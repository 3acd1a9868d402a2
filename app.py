"""Runoff's start: `streamlit run app.py`, or `runoff`.

The pages are in pages/, the frame around them in ui/main.py. This file only starts things: it opens the
workspace, makes the demo project on a first start, tells its address, and names failures.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route

from ui.start import OwnersHeaders, announce, end, on_script_error, prepare, silence_server

silence_server()


@asynccontextmanager
async def lifespan(_app: Any) -> AsyncIterator[dict[str, Any]]:
    prepare()
    # Streamlit collects garbage after every run; what the libraries hold need not be looked at each time.
    gc.collect()
    gc.freeze()
    announce(browser="--browser" in sys.argv)
    yield {}
    end()


async def project_page(request: Request) -> RedirectResponse:
    """The first page's address is the bare one; its name leads there too."""
    return RedirectResponse(f"/?{request.url.query}" if request.url.query else "/")


app = st.App(
    "ui/main.py",
    lifespan=lifespan,
    on_script_error=on_script_error,
    routes=[Route("/project", project_page)],
    middleware=[Middleware(OwnersHeaders)],
)
