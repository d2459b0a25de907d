"""Hearing and speaking of a party: engines that turn audio into text and back, and the pipecat services around them.

Speech is 16-bit mono at 16 kHz throughout a party; engines that work at another rate resample.
"""

RATE = 16_000
