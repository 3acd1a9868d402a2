"""Long work in a process of its own: started, watched, swept."""
