"""Contacts: business partners with their sanctions status."""
