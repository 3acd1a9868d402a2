"""The voting page's rows: links, sessions, leases, votes, checks.

* A link belongs to a ranking and leads to the voting page that is open, of a ballot or of a round (one at a time), else
  to the newest. A cookie is the session's nonce with an HMAC by the link's secret (`visits`), a form's token another
  one over ballot and cookie; no id of a row leaves the server. Who begins under a typed name has a nonce that follows
  from the browser's random visit, so that a press that came twice begins once.
* Leases are given inside a writer's transaction: `question.n_dealt` is its votes, its leases, and answers "I don't
  know" beyond the second; an index by it finds the fewest first without a scan. Leases end with their time, and
  whoever comes next takes them back.
* A vote is one transaction, on the disk before the page says so. The place in the voter's task is its idempotency key:
  an answer that comes twice, from wherever, counts once. Undo marks the judgement as withdrawn. A voter's answers are
  ordered by a counter of their own, not by the clock.
* Checks are questions of the role `check`, so no look-up of votes sees them; `check_question` says what one is for and
  which comparison it is again. Repeats are judgements of the status `repeat`, in an assignment of their own.
* Closing a ballot pauses its page first (`closing_pause`), so that no vote comes between the votes read and the scores
  written.
* Where a session began is kept as a hash with the page's salt (`voting`); both go in the transaction that closes the
  ballot, and stand in no export (`here_` columns).
"""
