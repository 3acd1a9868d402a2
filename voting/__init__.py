"""The voters' page: a small web server apart from the owner's app, which uses of the library only `core.voting.api`."""
