"""The embeddings that the project compares: import, coverage, removal."""

from __future__ import annotations

import streamlit as st

from core.base.numbers_in_words import many, plural
from core.store.projects.embedding_library import add_embedding, other_embeddings, read_embeddings, remove_embedding
from core.views.tokens import TokensView
from ui.embeddings import embedding_view, imports
from ui.shared import cache, choosers, frame

project = frame.project()
store = frame.store()
mine = read_embeddings(store, project.id)
view: TokensView = cache.load_tokens(store, project)
covered = {found.embedding_id: found for found in view.coverage}

st.title("Embeddings")
if mine:
    st.markdown(
        plural(
            len(mine),
            "**{n} embedding is compared in this project.**",
            "**{n} embeddings are compared in this project.**",
        )
    )
else:
    st.markdown(
        "**An embedding gives each word a vector. The finished dataset tells how well it ranks related pairs.**"
    )
imports.watch(store, project)

if mine:
    rows = []
    for embedding in mine:
        row: dict[str, object] = {"name": embedding.name}
        if view.n_tokens:
            row |= {"tokens covered": embedding_view.share(covered[embedding.id])}
        row |= {
            "words": embedding.n_words,
            "dimensions": embedding.dimensions or None,  # a table of similarities has no vectors
            "format": embedding.format,
            "from": embedding.source,
        }
        rows.append(row)
    columns = {"words": st.column_config.NumberColumn("words", format="localized")}
    st.dataframe(rows, hide_index=True, column_config=columns, placeholder="–", alt="Embeddings of the project")
    for found in view.coverage:
        if found.problem:
            st.error(frame.plain(f"{found.name}: {found.problem}"))
after = cache.load_overview(store, project)  # what comes after embeddings, as long as nothing is drawn
if after.next_page in ("tokens", "plan"):
    frame.next_step(after.next_page, after.next_label[:1].lower() + after.next_label[1:])

st.subheader("Import an embedding")
imports.import_box(store, project)

if mine:
    st.subheader("Look at an embedding")
    chosen = mine[0]
    if len(mine) > 1:
        chosen = choosers.embedding("Embedding", mine, key=f"look-{project.id}")
    embedding_view.show(cache.load_embedding(store, project, chosen.id), project)

others = other_embeddings(store, project.id)
if others:
    st.subheader("From another project")
    with st.form("add from workspace"):
        chosen = choosers.embedding(
            "Imported before", others, key=f"add-{project.id}", called=lambda e: f"{e.name} ({many(e.n_words, 'word')})"
        )
        if st.form_submit_button("Use it here"):
            done = f"{chosen.name} is used in this project."
            frame.carry_out(add_embedding, store, project.id, chosen.id, done=done)
if mine:
    with st.expander("Remove an embedding from this project"), st.form("remove"):
        gone = choosers.embedding("Embedding", mine, key=f"remove-{project.id}")
        st.caption("The import itself stays in the workspace, for other projects.")
        if st.form_submit_button("Remove it"):
            done = f"{gone.name} is no longer compared."
            frame.carry_out(remove_embedding, store, project.id, gone.id, done=done)
