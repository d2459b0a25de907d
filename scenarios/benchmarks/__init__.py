"""The benchmark files: what is pinned, whether a folder has it, how re-shaped files are rebuilt. No downloading here.

Downloading is ``evalsite.fetching``: this package makes no connection (see the import contracts in pyproject.toml).
"""
