"""What Runoff made of the same input when these files were written: `make` makes it again, `test_golden` compares."""
