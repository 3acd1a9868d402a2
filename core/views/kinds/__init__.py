"""What pages show of kinds of question: their rounds, their files, and how kinds compare."""
