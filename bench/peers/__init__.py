"""What stammdaten is measured against: a textbook service, a constant answer, itself with batches of one."""
