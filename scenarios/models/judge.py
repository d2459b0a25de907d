"""Judges: their prompts and versions, what each was asked, and batches of judging with canaries."""

from django.conf import settings
from django.db import models


class JudgePrompt(models.Model):
    """One version of what judges are told. Never edited: a change is a new row with its own hash."""

    # ``judge_request.prompt_version_of`` of the guidance as it was when this was written.
    version = models.CharField(max_length=64, unique=True)
    title = models.CharField(max_length=120)
    # The guidance alone; how material is quoted and how to answer is added by ``judge_request.system_prompt``.
    system_prompt = models.TextField()
    # The version that this one was edited from; none: the built-in text.
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="children")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    is_archived = models.BooleanField(default=False)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.title} {self.version[:8]}"


class JudgeVersion(models.Model):
    """One model with one set of parameters and one prompt version; found or made by fingerprint."""

    fingerprint = models.CharField(max_length=64, unique=True)
    profile = models.CharField(max_length=64)
    model = models.CharField(max_length=200)
    base_url = models.CharField(max_length=300, blank=True)
    parameters = models.JSONField(default=dict)
    prompt_version = models.CharField(max_length=64)
    # How replies are given: auto, schema, plain.
    structure = models.CharField(max_length=8, default="auto")
    is_standin = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.profile} {self.fingerprint[:8]}"


class Judging(models.Model):
    """One request to a judge for one trial: what was asked, what came back, what it cost."""

    trial = models.ForeignKey("scenarios.Trial", on_delete=models.CASCADE, related_name="judgings")
    scoring = models.PositiveIntegerField(default=1)
    judge = models.ForeignKey(JudgeVersion, on_delete=models.PROTECT, related_name="judgings")
    system_prompt = models.TextField()
    user_content = models.TextField()
    reply = models.TextField(blank=True)
    score = models.FloatField(null=True)
    reason = models.TextField(blank=True)
    error = models.CharField(max_length=40, blank=True)
    tries = models.PositiveSmallIntegerField(default=1)
    duration_ms = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    # What was cut from the evidence to fit the window, in words.
    truncation = models.CharField(max_length=300, blank=True)
    # The batch that the request was part of; its canaries decide whether the ruling counts.
    batch = models.ForeignKey("scenarios.JudgeBatch", null=True, on_delete=models.SET_NULL, related_name="judgings")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["trial_id", "-scoring"]

    def __str__(self) -> str:
        return f"judging of trial {self.trial_id} by {self.judge_id}"


class JudgeBatch(models.Model):
    """Calls judged together by one judge, with known-answer canaries mixed in.

    The batch of a run holds what its lanes judge; any other was asked for by a person and is a dry run until it is
    saved. A batch whose canaries fail is quarantined: none of its rulings reaches a rate.
    """

    class Kind(models.TextChoices):
        RUN = "run", "judging of a run"
        REJUDGE = "rejudge", "judged again"
        SELF = "self", "self-agreement"

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        DONE = "done", "done"
        STOPPED = "stopped", "stopped"
        ERROR = "error", "error"

    class Canaries(models.TextChoices):
        OPEN = "open", "not decided yet"
        PASSED = "passed", "passed"
        QUARANTINED = "quarantined", "quarantined"
        # Failed, and a person has decided that the rulings count all the same.
        RELEASED = "released", "released"

    # Its rulings may be saved and count.
    TRUSTED = (Canaries.PASSED, Canaries.RELEASED)

    kind = models.CharField(max_length=8, choices=Kind)
    title = models.CharField(max_length=200, blank=True)
    run = models.ForeignKey("scenarios.Run", null=True, on_delete=models.CASCADE, related_name="judge_batches")
    judge = models.ForeignKey(JudgeVersion, null=True, on_delete=models.PROTECT, related_name="batches")
    # The frozen judge profile (``Profile.frozen``) and which verdicts were asked for.
    config = models.JSONField(default=dict)
    filter = models.JSONField(default=dict)
    state = models.CharField(max_length=8, choices=State, default=State.QUEUED)
    message = models.CharField(max_length=300, blank=True)
    canaries = models.CharField(max_length=12, choices=Canaries, default=Canaries.OPEN)
    canary_reason = models.CharField(max_length=300, blank=True)
    released_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    released_at = models.DateTimeField(null=True, blank=True)
    release_reason = models.CharField(max_length=300, blank=True)
    stop_requested_at = models.DateTimeField(null=True, blank=True)
    lease = models.UUIDField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    # Somebody pressed Save: a worker stores the rulings, and says so in ``saved_at`` when all are.
    save_requested_at = models.DateTimeField(null=True, blank=True)
    saved_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    saved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            # A run is judged in one batch, whichever of its lanes comes first.
            models.UniqueConstraint(fields=["run"], condition=models.Q(kind="run"), name="judge_batch_one_of_a_run")
        ]

    def __str__(self) -> str:
        return self.title or f"batch {self.pk}"


class BatchItem(models.Model):
    """One request of a batch: a call, or a canary (``trial`` is then null and ``canary`` names it)."""

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        DONE = "done", "done"
        ERROR = "error", "error"

    batch = models.ForeignKey(JudgeBatch, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveIntegerField()
    trial = models.ForeignKey("scenarios.Trial", null=True, on_delete=models.CASCADE, related_name="batch_items")
    canary = models.CharField(max_length=60, blank=True)
    # Self-agreement asks about the same call more than once.
    repeat = models.PositiveSmallIntegerField(default=1)
    state = models.CharField(max_length=8, choices=State, default=State.QUEUED)
    # Of a canary in the batch of a run: which lane asks about it now, and since when.
    lease = models.UUIDField(null=True, blank=True)
    taken_at = models.DateTimeField(null=True, blank=True)
    # Judging columns (system_prompt, user_content, reply, score, reason, error, tokens...), as they will be saved.
    judging = models.JSONField(default=dict)
    # {"index", "claim", "passed", "reason", "evidence", "error", "fingerprint", "was"}; ``was`` is the ruling before.
    # Of a canary: {"index", "claim", "reason"} and the fields of ``scoring.canaries.CanaryRuling``.
    rulings = models.JSONField(default=list)
    outcome_before = models.CharField(max_length=16, blank=True)
    outcome_after = models.CharField(max_length=16, blank=True)
    flips = models.PositiveSmallIntegerField(default=0)
    cost = models.FloatField(null=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["batch_id", "position"]
        constraints = [models.UniqueConstraint(fields=["batch", "position"], name="batch_item_position")]

    def __str__(self) -> str:
        return self.canary or f"trial {self.trial_id}"
