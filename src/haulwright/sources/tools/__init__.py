"""Addresses, amounts of money, dates and encodings, as they come from outside."""
