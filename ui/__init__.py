"""The Streamlit pieces that pages share."""

from pathlib import Path

if not (Path(__file__).resolve().parents[1] / "core").is_dir():
    # Installed, the library is the package `runoff`; pages and what they share know it as `core`.
    from runoff.installed import call_core

    call_core()
