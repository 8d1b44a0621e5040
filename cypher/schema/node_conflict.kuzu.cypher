// Why an action does not apply to a new base.
CREATE NODE TABLE Conflict (
  id STRING, caption STRING, ts STRING, effect_id STRING, kind STRING, detail STRING,
  resolved STRING, PRIMARY KEY (id)
)
