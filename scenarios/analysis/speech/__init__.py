"""What speech did to a call: words misheard, identifiers that broke on their way, time lost, turns that collided."""
