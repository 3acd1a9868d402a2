"""Other ways to ask people than comparisons of items: target groups, rating scales, best–worst scaling."""
