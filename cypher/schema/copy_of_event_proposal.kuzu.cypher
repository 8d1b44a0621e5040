// Fill the empty table OF of a new generation from Event to Proposal.
// params: rows TABLE NOT NULL
COPY OF FROM $rows (FROM = 'Event', TO = 'Proposal')
