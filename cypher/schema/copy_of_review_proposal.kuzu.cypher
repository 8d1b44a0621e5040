// Fill the empty table OF of a new generation from Review to Proposal.
// params: rows TABLE NOT NULL
COPY OF FROM $rows (FROM = 'Review', TO = 'Proposal')
