"""Signs of life of the workers."""

from django.db import models


class Lane(models.Model):
    """One worker's loop over trials; a fresh heartbeat means it is alive."""

    key = models.UUIDField(unique=True)
    host = models.CharField(max_length=200)
    pid = models.PositiveIntegerField()
    width = models.PositiveSmallIntegerField()
    running = models.PositiveSmallIntegerField(default=0)
    started_at = models.DateTimeField(auto_now_add=True)
    heartbeat_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-started_at"]

    def __str__(self) -> str:
        return f"lane {self.host}/{self.pid}"
