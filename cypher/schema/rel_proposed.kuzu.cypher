// What a run proposed.
CREATE REL TABLE PROPOSED (
  FROM Trace TO Proposal
)
