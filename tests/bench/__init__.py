"""The speed figures: ``make bench`` measures them here and says under what conditions."""
