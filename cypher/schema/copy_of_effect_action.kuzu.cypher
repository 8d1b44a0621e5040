// Fill the empty table OF of a new generation from Effect to Action.
// params: rows TABLE NOT NULL
COPY OF FROM $rows (FROM = 'Effect', TO = 'Action')
