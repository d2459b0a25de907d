"""Runs and calls in the forms of other tools: one module a form, all of one shape (``form.Format``)."""
