// What a review, an effect, a conflict or an event is about.
CREATE REL TABLE OF (
  FROM Review TO Proposal, FROM Effect TO Action, FROM Conflict TO Effect, FROM Event TO Proposal,
  FROM Event TO Refinement
)
