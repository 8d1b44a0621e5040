// The actions that a refinement carried out.
CREATE REL TABLE APPLIED (
  FROM Refinement TO Action
)
