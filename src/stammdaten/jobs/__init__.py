"""Work that outlives a request: queued in a table, claimed by one worker, resumed after a restart."""
