"""The ways to bring an embedding in: a file to import, or a model of texts that is asked for the project's tokens.

A file is chosen, told what it is, imported and watched. A model is in a folder of this machine or behind a server: it
is looked at, and what would be sent where is said before it is asked.
"""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path
from typing import Any

import streamlit as st

from core.base.durable import private, shown_name, shown_path
from core.base.numbers_in_words import many, plural
from core.embeddings import EncodingError, Recognised, sniff
from core.encoders import FORMATS, EmbeddingServer, inspect
from core.encoders.server import KEY_VARIABLE, TOKEN
from core.errors import InputError, RunoffError
from core.jobs import lifecycle
from core.store import Store
from core.store.projects.embedding_library import read_embeddings
from core.store.projects.model_servers import allow_server, allowed_servers
from core.store.projects.project_commands import Project
from core.views import file_kinds
from ui.shared import cache, files, frame
from ui.shared.files import choose_file, key_of, typed_path

KIND = "encode_tokens"


def show_encoder(store: Store, project: Project, place: str) -> None:
    """A model's path, the model recognised there, and the button that encodes the tokens; `place` keys the widgets."""
    n_tokens = cache.load_tokens(store, project).n_tokens
    if not n_tokens:
        st.caption("A model reads the project's tokens: add token lists first.")
        return
    _warn_of_outdated(store, project)
    key = f"{place}-{project.id}"
    text = st.text_input(
        "Folder of the model",
        key=f"encoder-{key}",
        help=(
            "A sentence encoder, a static model (model2vec, StaticEmbedding) or a cross-encoder, as the packages "
            "sentence-transformers and model2vec write them, with config.json in it. Encoders of BERT's kind (MiniLM, "
            "BGE, E5, GTE) are computed here and need nothing else."
        ),
    )
    path = typed_path(text) if text.strip() else None
    if path is None:
        st.caption(
            f"A model turns any text into a vector: here each of the {many(n_tokens, 'token')}, read as one short "
            "text. A cross-encoder gives each pair a similarity. Nothing is fetched from the internet."
        )
        return
    try:
        encoder = inspect(path)
    except RunoffError as error:
        frame.show_error(error)
        return
    st.markdown(f"Recognised: **{frame.plain(encoder.sentence())}**")
    trusted = True
    if encoder.needs_trust:
        st.warning(frame.plain(encoder.needs_trust))
        trusted = st.checkbox("I know where this model comes from, and I trust it", key=f"trust-{key}-{path}")
    name = st.text_input("Name in this project", encoder.name, max_chars=100, key=f"encoder-name-{key}-{path}")
    label = "Read the pairs" if encoder.scores_pairs else f"Encode {many(n_tokens, 'token')}"
    if st.button(label, type="primary", key=f"encode-{key}", disabled=not trusted):
        if not name.strip():
            st.error("The model has no name. Type one.")
            return
        start(store, project, {"path": str(encoder.folder.resolve()), "name": name.strip(), "trusted": trusted})


def _warn_of_outdated(store: Store, project: Project) -> None:
    """Models whose vectors are of an earlier token list."""
    covered = {coverage.embedding_id: coverage for coverage in cache.load_tokens(store, project).coverage}
    for embedding in read_embeddings(store, project.id):
        if embedding.format not in FORMATS or embedding.id not in covered:
            continue
        unusable = embedding.info["n_zero"] + embedding.info["n_not_finite"]
        if later := covered[embedding.id].missing["token"].nunique() - unusable:
            st.warning(
                frame.plain(
                    plural(
                        later,
                        "{name} hasn't encoded {n} token that was added later. Encode them all again from {source}.",
                        "{name} hasn't encoded {n} tokens that were added later. Encode them all again from {source}.",
                        name=embedding.name,
                        source=embedding.source,
                    )
                ),
                icon=":material/update:",
            )


def start(store: Store, project: Project, params: dict[str, Any]) -> None:
    """Have a job ask a model, and watch it."""
    try:
        job_id = lifecycle.start(store, KIND, params, project_id=project.id, once=True)
    except RunoffError as error:
        frame.show_error(error)
        return
    st.session_state.setdefault("_watched", []).append(job_id)
    st.rerun()


def show_server(store: Store, project: Project, place: str) -> None:
    """Address and model, what is sent there, and the button that sends it; `place` keys the widgets."""
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
        _offer_server(store, project, server, n_tokens, key)
    except RunoffError as error:
        frame.show_error(error)


def _offer_server(store: Store, project: Project, server: EmbeddingServer, n_tokens: int, key: str) -> None:
    st.markdown(f"**What is sent where.** {frame.plain(server.says(n_tokens))}")
    if server.is_open:
        st.warning("This address isn't encrypted: whoever shares a network on the way can read the tokens.")
    on = server.address in allowed_servers(store, project.id)
    allow = st.toggle(
        "Let this project send its tokens there", on, key=f"send-{key}-{server.address}-{on}-{project.revision}"
    )
    if allow != on:
        done = "Tokens of this project may be sent there now." if allow else "Nothing of this project is sent there."
        frame.carry_out(
            allow_server, store, project.id, server.address, allow, done=done, expected_revision=frame.expected()
        )
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
        start(store, project, params)


KINDS = ("import_embedding", KIND)
PATH, UPLOAD = "path", "upload"  # the tabs, each with a file of its own


def import_box(store: Store, project: Project) -> None:
    """Path or upload; what was recognised is shown before the import starts."""
    path_tab, upload_tab, encoder_tab, server_tab = st.tabs(
        ["From a path on this machine", "By upload", "A model's folder", "A model on a server"]
    )
    with path_tab:
        path = choose_file(store, f"{project.id}-{_turn(PATH)}")
        if path is not None:
            params = {"path": str(path), "shown": shown_path(path)}
            _import_form(store, project, path, shown_name(path), params, PATH)
    with upload_tab:
        _upload(store, project)
    with encoder_tab:
        show_encoder(store, project, "import")
    with server_tab:
        show_server(store, project, "import")
    st.caption(
        "Read: word2vec and GloVe text, word2vec binary, fastText .vec and .bin, gensim's own files, NumPy arrays "
        "and lists of words, tables of similarities; packed or not. The content decides, not the file's name."
    )


def _upload(store: Store, project: Project) -> None:
    """A file from the visitor's machine; one that was chosen stays so while other pages are looked at."""
    chosen = _chosen(project)
    file = st.file_uploader(
        "Embedding file",
        key=f"embedding-{project.id}-{_turn(UPLOAD)}",
        on_change=_forget,
        args=(chosen,),
        help="Up to 1,000 MB; larger files, and files that could run a program, by path only.",
    )
    if file is not None:
        stored_path = _store_upload(store, file)
        if stored_path is not None:
            st.session_state[chosen] = (stored_path, file.name)
    chosen_file: tuple[Path, str] | None = st.session_state.get(chosen)
    if chosen_file is None or not chosen_file[0].exists():
        return
    path, name = chosen_file
    if file is None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.info(f"{frame.plain(name)} was chosen before, and isn't imported yet.", icon=":material/upload_file:")
            st.button("Discard", key=f"discard-{chosen}", on_click=_forget, args=(chosen,), icon=":material/undo:")
    _import_form(store, project, path, name, {"path": str(path), "shown": name, "uploaded": True}, UPLOAD)


def _chosen(project: Project) -> str:
    return f"_chosen-upload-{project.id}"


def _forget(chosen: str) -> None:
    st.session_state.pop(chosen, None)


def _turn(place: str) -> int:
    """A number for the keys of one tab, so that it is emptied once its file is imported, and no other tab is."""
    return int(st.session_state.setdefault(f"_import_turn_{place}", 0))


def _store_upload(store: Store, file: Any) -> Path | None:
    """The uploaded file on disk, under a name of ours; written once a file. None where there is no room for it."""
    paths = st.session_state.setdefault("_kept_uploads", {})
    if file.file_id not in paths or not paths[file.file_id].exists():
        path = store.incoming / f"upload-{secrets.token_hex(8)}"
        file.seek(0)
        try:
            with open(path, "wb", opener=private) as handle:
                shutil.copyfileobj(file, handle, 1 << 22)
        except OSError as error:
            path.unlink(missing_ok=True)
            why = f"The file can't be kept in the workspace ({error.strerror})."
            message = f"{why} Free some space, or import it by its path."
            st.error(frame.plain(message))
            return None
        paths[file.file_id] = path
    return paths[file.file_id]


def _import_form(store: Store, project: Project, path: Path, filename: str, params: dict, place: str) -> None:
    """The format recognised, the options that the file needs, and the button that imports it."""
    key = f"{project.id}-{key_of(path)}"
    try:
        if path.is_file():  # of a path that leads nowhere the reader says why
            file_kinds.check("embeddings", path, Path(filename).name)
        recognised, options = _recognise(path, filename, key)
    except RunoffError as error:
        frame.show_error(error)
        return
    st.markdown(f"Recognised: **{frame.plain(recognised.sentence())}**")
    for note in recognised.notes:
        st.caption(frame.plain(note))
    if recognised.needs_trust:
        if params.get("uploaded"):
            only = "It is imported by its path only, from a place you know."
            st.error(frame.plain(f"{filename}: {recognised.needs_trust} {only}"))
            return
        st.warning(frame.plain(f"{Path(filename).name}: {recognised.needs_trust}"))
        options["trusted"] = st.checkbox("I know where this file comes from, and I trust it", key=f"trust-{key}")
    name = st.text_input("Name in this project", Path(filename).stem, max_chars=100, key=f"name-{key}")
    ready = not recognised.needs_vocabulary and (not recognised.needs_trust or options.get("trusted"))
    if st.button("Import", type="primary", key=f"import-{key}", disabled=not ready):
        if not name.strip():
            st.error("The embedding has no name. Type one.")
            return
        _start(store, project, {**params, **options, "name": name.strip()}, place)


def _recognise(path: Path, filename: str, key: str) -> tuple[Recognised, dict]:
    """The format recognised under the options chosen, and these options; draws the widgets for them."""
    name = Path(filename).name
    options: dict[str, Any] = {}
    try:
        sniffed = sniff(path, name=name)
    except EncodingError as error:
        frame.show_error(error)
        recognised, suggested = None, error.suggested
    else:
        recognised, suggested = sniffed, sniffed.needs_encoding
    options["encoding"] = files.of_words(key, suggested or "")
    if options["encoding"] != "utf-8":
        recognised = sniff(path, name=name, encoding=options["encoding"])
    if recognised is not None and recognised.needs_vocabulary:
        st.warning(frame.plain(recognised.needs_vocabulary))
        words = st.text_input("File with the words, one per line", key=f"vocabulary-{key}")
        listed = typed_path(words) if words.strip() else None
        if listed is not None and not listed.is_file():
            st.error(frame.plain(f"There is no file {listed}."))
        elif listed is not None:
            options["vocabulary"] = str(listed)
            recognised = sniff(path, name=name, encoding=options["encoding"], vocabulary=listed)
    if recognised is None:
        raise InputError(f"{name} can't be read. Choose another encoding.")
    return recognised, options


def _start(store: Store, project: Project, params: dict, place: str) -> None:
    """Start the job that imports a file."""
    try:
        job_id = lifecycle.start(store, "import_embedding", params, project_id=project.id)
    except RunoffError as error:
        frame.show_error(error)
        return
    st.session_state.setdefault("_watched", []).append(job_id)
    st.session_state[f"_import_turn_{place}"] = _turn(place) + 1
    if place == UPLOAD:
        _forget(_chosen(project))
    st.rerun()


def watch(store: Store, project: Project) -> None:
    """The project's imports under way, and how the ones started here ended."""
    watched = st.session_state.setdefault("_watched", [])
    recent = lifecycle.project_jobs(store, project.id, *KINDS)
    listed_jobs = [job for job in recent if not job.ended or job.id in watched]
    if any(not job.ended for job in listed_jobs):
        _watch_running(project)
        return
    for job in listed_jobs:
        if job.state == "done":
            result = job.result or {}
            n, name = result["n_words"], result["name"]
            if job.kind == "import_embedding":
                frame.flash(plural(n, "{name} is imported: {n} word.", "{name} is imported: {n} words.", name=name))
                continue
            frame.flash(
                plural(n, "{name} is added: {n} encoded token.", "{name} is added: {n} encoded tokens.", name=name)
            )
        elif job.state == "failed":
            text = f"{job.params['name']} wasn't imported. {job.error}"
            frame.flash(text, kind="warning")
        elif "server" in job.params:
            text = f"{job.params['name']} isn't added: it was cancelled. What the server answered so far is kept."
            frame.flash(text, kind="warning")
        else:
            text = f"The import of {job.params['name']} was cancelled; nothing of it is left."
            frame.flash(text, kind="warning")
    if listed_jobs:
        st.session_state["_watched"] = []
        frame.changed_here()
        st.rerun()


@st.fragment(run_every=1)
def _watch_running(project: Project) -> None:
    """The imports under way, each with a button that cancels it; the page is drawn anew once none is."""
    store = frame.workspace()
    lifecycle.sweep(store)
    running = [job for job in lifecycle.project_jobs(store, project.id, *KINDS) if not job.ended]
    if not running:
        frame.changed_here()
        st.rerun()
    for job in running:
        if job.id not in st.session_state["_watched"]:
            st.session_state["_watched"].append(job.id)
        with st.container(border=True):
            name = frame.plain(job.params["name"])
            if job.kind == "import_embedding":
                st.markdown(f"Importing **{name}**")
            else:
                st.markdown(f"Encoding the tokens with **{name}**")
            st.progress(job.share, text=_progress_text(job))
            if st.button("Cancel", key=f"cancel-{job.id}"):
                lifecycle.cancel(store, job.id)
                st.rerun()


def _progress_text(job: lifecycle.Job) -> str:
    """How far a job is, at what pace, and the seconds left."""
    if job.started_at is None or not job.total:
        return "Starting…"
    if job.kind != "import_embedding":
        unit = f" {job.message}" if job.message.startswith(("tokens", "pairs")) else f": {job.message}"
        return f"{job.done:,.0f} of {job.total:,.0f}{unit}"
    rate = job.done / max(lifecycle.age(job.started_at), 0.1) / 1e6
    left = job.seconds_left()
    done, total = job.done / 1e6, job.total / 1e6
    pace = f"{done:,.0f} of {total:,.0f} MB, {rate:,.0f} MB/s"
    return pace if left is None else f"{pace}, {left:,.0f} s left"
