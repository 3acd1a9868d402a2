"""Areas, tokens, their frequencies and origins, and the rules of items."""
