"""The tests; `conftest.py` begins with how they come by a service."""
