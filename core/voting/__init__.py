"""What the voters' server may do; `api` is all that it imports."""
