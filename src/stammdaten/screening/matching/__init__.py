"""Whom a party resembles on the lists, and why: folding, candidates, scores. Knows no store, no contacts, no HTTP."""

from stammdaten.screening.matching.contacts import Contacts
from stammdaten.screening.matching.context import CERTAIN, DEFAULT_THRESHOLD
from stammdaten.screening.matching.index import Index, Match
from stammdaten.screening.matching.judging import ENGINE, comparable, similarity

__all__ = ["CERTAIN", "DEFAULT_THRESHOLD", "ENGINE", "Contacts", "Index", "Match", "comparable", "similarity"]
