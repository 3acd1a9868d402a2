"""A model behind a server: what would be sent where, the switch that lets the project send it, and the asking."""

from __future__ import annotations

import streamlit as st

from core.base.numbers_in_words import many, plural
from core.encoders import EmbeddingServer
from core.encoders.server import KEY_VARIABLE, TOKEN
from core.errors import RunoffError
from core.store import Store
from core.store.projects.model_servers import allow_server, allowed_servers
from core.store.projects.project_commands import Project
from ui.embeddings import encoder_box
from ui.shared import cache, frame


def show(store: Store, project: Project, place: str) -> None:
    """Address and model, what goes there, and the button that asks; `place` keeps two boxes apart."""
    n_tokens = cache.load_tokens(store, project).n_tokens
    if not n_tokens:
        st.caption("A server's model reads the project's tokens: add token lists first.")
        return
    key = f"{place}-{project.id}"
    left, right = st.columns(2)
    address = left.text_input(
        "Address of the server",
        key=f"server-{key}",
        placeholder="http://localhost:11434",
        help="One that speaks /v1/embeddings: vLLM, llama.cpp, Ollama, Text Embeddings Inference, or a hosted one.",
    )
    model = right.text_input("Model, as the server calls it", key=f"model-{key}", placeholder="nomic-embed-text")
    with st.expander("How it is asked"):
        template = st.text_input(
            "Text of a token",
            TOKEN,
            key=f"template-{key}",
            help=f"{TOKEN} is the token. Some models want words before it, such as “search_document: {TOKEN}”.",
        )
        batch = int(st.number_input("Texts in a request", 1, 2048, 64, key=f"batch-{key}"))
    if not address.strip() or not model.strip():
        st.caption(
            "Nothing is sent until you switch it on for this project, once you have read what would go where. A key is "
            f"taken from the variable {KEY_VARIABLE} of the environment that Runoff was started in, and kept nowhere."
        )
        return
    try:
        server = EmbeddingServer(address, model, template, batch)
        _offer(store, project, server, n_tokens, key)
    except RunoffError as error:
        frame.show_error(error)


def _offer(store: Store, project: Project, server: EmbeddingServer, n_tokens: int, key: str) -> None:
    st.markdown(f"**What is sent where.** {frame.plain(server.says(n_tokens))}")
    if server.is_open:
        st.warning("This address isn't encrypted: whoever shares a network on the way can read the tokens.")
    on = server.address in allowed_servers(store, project.id)
    wanted = st.toggle(
        "Let this project send its tokens there", on, key=f"send-{key}-{server.address}-{on}-{project.revision}"
    )
    if wanted != on:
        done = "Tokens of this project may be sent there now." if wanted else "Nothing of this project is sent there."
        frame.carry_out(allow_server, store, project.id, server.address, wanted, done=done)
    tokens = {token for area in cache.load_tokens(store, project).areas for token in area.tokens}
    n_kept = len({server.text_of(token) for token in tokens} & server.kept(store.answers).texts())
    anew = False
    if n_kept:
        st.caption(
            plural(
                n_kept,
                "{n} answer is kept from before, and isn't asked for again.",
                "{n} answers are kept from before, and aren't asked for again.",
            )
        )
        anew = st.checkbox("Forget them, and ask for all anew", key=f"anew-{key}")
    name = st.text_input("Name in this project", server.model, max_chars=100, key=f"name-{key}-{server.model}")
    if st.button(f"Ask for {many(len(tokens), 'vector')}", type="primary", key=f"ask-{key}", disabled=not on):
        if not name.strip():
            st.error("The model has no name. Type one.")
            return
        params = {"server": server.request, "name": name.strip(), "anew": anew}
        encoder_box.start(store, project, params)
