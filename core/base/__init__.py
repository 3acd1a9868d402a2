"""What every room may use: files on the disk, processes, many cores, wording of numbers, templates."""
