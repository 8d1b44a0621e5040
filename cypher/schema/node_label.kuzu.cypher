// All live entities whose label has one normal form; the lists run in parallel.
CREATE NODE TABLE Label (
  norm STRING, ids STRING[], labels STRING[], files STRING[], PRIMARY KEY (norm)
)
