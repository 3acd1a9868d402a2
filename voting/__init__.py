"""The voters' page: a small web server apart from the owner's app. It uses nothing of the library but
`core.voting.api`."""
