// The actions of a proposal.
CREATE REL TABLE CONTAINS (
  FROM Proposal TO Action
)
