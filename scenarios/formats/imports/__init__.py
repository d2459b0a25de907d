"""Reading other tools' result files into plain records, and running their tool calls again. No Django in here.

``open_all(paths)`` of ``everything`` walks files, folders and archives for runs and refusals; ``open_import(path)``
of ``detect`` opens one. Both give an ``ImportedRun`` whose trials are read one at a time; ``rescore`` of ``comparison``
sets the file's verdicts beside our own. Formats: tau2 and tau-bench (``spec/trajectories.md`` 3, 4), the reference
system's run folder (``spec/reference-system.md`` 7), eva's and Inspect's logs (``spec/trajectories.md`` 4).
"""
