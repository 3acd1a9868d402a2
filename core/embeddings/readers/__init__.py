"""One module a file format: each has a `Reader`, listed in `loading.READERS`."""
