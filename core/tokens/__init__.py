"""Token lists, frequencies, spelling, neighbours, and the items made of tokens."""
