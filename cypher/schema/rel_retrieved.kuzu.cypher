// The entities that a hop brought before the model.
CREATE REL TABLE RETRIEVED (
  FROM Step TO Entity, rank INT64
)
