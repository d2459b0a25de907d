"""Domains: one folder of one fixed shape each. ``load()`` imports them and returns the instances by name."""
