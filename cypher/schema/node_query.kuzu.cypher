// A question that was asked of the graph.
CREATE NODE TABLE Query (
  id STRING, caption STRING, ts STRING, question STRING, source STRING, PRIMARY KEY (id)
)
