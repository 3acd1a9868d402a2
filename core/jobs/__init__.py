"""Long work in a process of its own: started, watched, swept; and what must hold in a workspace."""
