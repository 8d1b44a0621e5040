// A link of graph.json between two entities; origin_key is NULL where it is the key itself.
CREATE REL TABLE RELATES (
  FROM Entity TO Entity, key STRING, origin_key STRING, src STRING, tgt STRING, relation STRING,
  confidence STRING, raw STRING, added_by STRING, changed_by STRING, retired_by STRING,
  retired_as STRING, successor STRING, seq INT64
)
