// The refinement that an undo takes back.
CREATE REL TABLE REVERTS (
  FROM Refinement TO Refinement
)
