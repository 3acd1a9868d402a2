"""What the answers of a result file mean: matched with comparisons, classified, counted, reported."""
