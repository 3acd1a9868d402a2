"""Sets of ratings worked out: figures, conditions compared, models on texts."""
