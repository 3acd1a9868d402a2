"""What each page shows, as frozen view models: everything is computed here, pages only lay it out."""
