// Fill the empty table OF of a new generation from Event to Refinement.
// params: rows TABLE NOT NULL
COPY OF FROM $rows (FROM = 'Event', TO = 'Refinement')
