// Fill the empty table OF of a new generation from Conflict to Effect.
// params: rows TABLE NOT NULL
COPY OF FROM $rows (FROM = 'Conflict', TO = 'Effect')
