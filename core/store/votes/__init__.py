"""Votes: files taken in, judgements, tallies, who is left out, what is approved and paid.

* Leaving a voter out is applied to the judgements (`exclusions`, `tallies`): those that would count are `excluded`
  while it lasts. Files are read against what judgements are without it, and `write_tallies` applies it again: files
  and exclusions come in any order. Closed ballots are scored again in the same command; their items, and who went on,
  stay.
* The owner's decision goes before the file's: `assignment.review` says approve or reject, and `tallies.apply_reviews`
  brings judgements in line with it, first thing in `write_tallies`. In a closed ballot votes stay until it is reopened.
* Which vote counts is a policy (`project.policy`, `judgements`). By default, of a voter's votes on one comparison the
  earliest submitted, then the lowest assignment id. A file can so change judgements that aren't in it; any split, order
  or repetition of files leaves the same votes. An assignment's decision only goes from submitted over rejected to
  approved, its time only back. `recount` decides anew from the answers alone.
"""
