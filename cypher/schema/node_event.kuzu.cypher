// Something that happened to a proposal or a refinement.
CREATE NODE TABLE Event (
  id STRING, caption STRING, ts STRING, kind STRING, of STRING, by STRING, note STRING,
  PRIMARY KEY (id)
)
