"""Measures stammdaten beside the floor of each engine and a textbook service; knows no rule of theirs."""
