"""How well and how fast names are screened: `python -m bench.screening`. Measures on public data, ships none of it."""
