"""The bridge: the client of both parties. It lives in the lane's loop and knows nothing but addresses."""

from loguru import logger

# Only the wire format is pipecat's here; its banner and debug lines are for party servers.
logger.disable("pipecat")
