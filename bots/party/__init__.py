"""A party: one side of a call as a pipecat pipeline, fresh for every call, served on a WebSocket."""
