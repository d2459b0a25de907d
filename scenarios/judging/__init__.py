"""Judges as people handle them: their prompts, what makes a verdict stale, batches with canaries, judging again."""
