"""The door: bodies in, refusals out, paging and flags of queries, limits, request ids, logs, metrics."""
