"""Sanctions screening: lists in, and what they say of a party; knows no contacts."""
