"""How far votes, voters and a ranking can be trusted, and whether to stop."""
