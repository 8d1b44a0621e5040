// Open the one transaction of a write.
BEGIN TRANSACTION
