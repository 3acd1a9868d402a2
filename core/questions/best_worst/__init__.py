"""Best and worst of a tuple of items."""
