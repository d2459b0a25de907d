"""The domain and its tables."""

from django.apps import AppConfig


class ScenariosConfig(AppConfig):
    """The one app that owns models."""

    name = "scenarios"
