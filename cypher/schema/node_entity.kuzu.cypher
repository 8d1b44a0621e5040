// An entity of the graph: a node of graph.json.
CREATE NODE TABLE Entity (
  id STRING, label STRING, norm_label STRING, file_type STRING, source_file STRING,
  source_location STRING, community STRING, origin STRING, raw STRING, added_by STRING,
  changed_by STRING, retired_by STRING, retired_as STRING, successor STRING, seq INT64,
  PRIMARY KEY (id)
)
