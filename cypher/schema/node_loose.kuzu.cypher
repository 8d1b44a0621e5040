// A part of graph.json that is no entity and no link between two of them.
CREATE NODE TABLE Loose (
  key STRING, kind STRING, members STRING[], raw STRING, added_by STRING, changed_by STRING,
  retired_by STRING, retired_as STRING, successor STRING, seq INT64, PRIMARY KEY (key)
)
