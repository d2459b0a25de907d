"""The voice channel of the bridge: speech in and out, its clocks, and the recording.

Speech is 16-bit mono at 16 kHz inside the bridge, whatever a party sends.
"""
