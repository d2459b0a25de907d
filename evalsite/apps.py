"""The site: pages, live stream and management commands."""

from django.apps import AppConfig


class EvalsiteConfig(AppConfig):
    """Owns no models; registered for its commands and checks."""

    name = "evalsite"
