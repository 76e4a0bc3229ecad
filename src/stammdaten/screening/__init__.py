"""Sanctions screening: what a check of a contact says. Checks come with the lists; until then nothing is checked."""
