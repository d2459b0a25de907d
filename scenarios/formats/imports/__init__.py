"""Reading other tools' result files into plain records, and running their tool calls again. No Django in here.

``open_import(path)`` of ``detect`` finds the format and returns an ``ImportedRun``; ``rescore`` of ``comparison`` sets
the file's verdicts beside our own. Formats: ``spec/trajectories.md``.
"""
