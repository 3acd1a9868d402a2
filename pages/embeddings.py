"""The embeddings that the project compares: import, coverage, removal."""

from __future__ import annotations

import streamlit as st

from core.store.library import add_embedding, other_embeddings, read_embeddings, remove_embedding
from core.views.tokens import TokensView
from core.views.words import moment
from ui import cache, coverage, embedding_view, frame, imports

project = frame.project()
store = frame.store()
mine = read_embeddings(store, project.id)
view: TokensView = cache.load_tokens(store, project)
covered = {found.embedding_id: found for found in view.coverage}

st.title("Embeddings")
if mine:
    st.markdown(f"**{len(mine)} embedding{'s are' if len(mine) > 1 else ' is'} compared in this project.**")
else:
    st.markdown(
        "**An embedding gives each word a vector. The finished dataset tells how well it ranks related pairs.**"
    )
imports.watch(store, project)

if mine:
    rows = []
    for embedding in mine:
        row = {"name": embedding.name, "words": embedding.n_words, "dimensions": embedding.dimensions}
        if view.n_tokens:
            row |= {"tokens covered": coverage.share(covered[embedding.id])}
        row |= {
            "format": embedding.format,
            "from": embedding.source,
            "imported (UTC)": moment(embedding.imported_at),
        }
        rows.append(row)
    words = {"words": st.column_config.NumberColumn(format="localized")}
    st.dataframe(rows, hide_index=True, column_config=words, alt="Embeddings of the project")
    for found in view.coverage:
        if found.problem:
            st.error(frame.plain(f"{found.name}: {found.problem}"))
    if not view.areas:
        frame.link("tokens", "**Next: add token lists**", icon=":material/arrow_forward:")

st.subheader("Import an embedding")
imports.import_box(store, project)

if mine:
    st.subheader("Look at an embedding")
    chosen = mine[0]
    if len(mine) > 1:
        chosen = st.selectbox("Embedding", mine, format_func=lambda e: e.name, key=f"look-{project.id}")
    embedding_view.show(cache.load_embedding(store, project, chosen.id), project)

others = other_embeddings(store, project.id)
if others:
    st.subheader("From another project")
    with st.form("add from workspace"):
        chosen = st.selectbox("Imported before", others, format_func=lambda e: f"{e.name} ({e.n_words:,} words)")
        if st.form_submit_button("Use it here"):
            frame.carry_out(add_embedding, store, project.id, chosen.id, done=f"{chosen.name} is used in this project.")
if mine:
    with st.expander("Remove an embedding from this project"), st.form("remove"):
        gone = st.selectbox("Embedding", mine, format_func=lambda e: e.name)
        st.caption("The import itself stays in the workspace, for other projects.")
        if st.form_submit_button("Remove it"):
            frame.carry_out(remove_embedding, store, project.id, gone.id, done=f"{gone.name} is not compared any more.")
