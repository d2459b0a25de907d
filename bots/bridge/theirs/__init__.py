"""Parties that keep their tools and their database themselves: the bot servers of the reference, unchanged.

The wire is that of ``spec/reference-system.md`` 1.2; ``docs/external-agents.md`` describes it for authors of bots.

* ``control``: the six control messages, each matched by id, with a deadline, its answer checked.
* ``preparing``: before the first word. ``hearing``: what such a party says and does, as it happens.
* ``actions``: the writes it reports, made again on our copy. ``syncing``: the other side is told, and acknowledges.
* ``pulling``: its end state and history, while the socket is open.
"""
