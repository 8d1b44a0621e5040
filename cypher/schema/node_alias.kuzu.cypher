// A former name and the entities that it may stand for.
CREATE NODE TABLE Alias (
  norm STRING, ids STRING[], PRIMARY KEY (norm)
)
