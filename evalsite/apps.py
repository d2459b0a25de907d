"""The site: pages, live stream and management commands."""

from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate


class EvalsiteConfig(AppConfig):
    """Owns no models; registers its checks and makes the roles after each migration."""

    name = "evalsite"

    def ready(self) -> None:
        """Connect what needs Django's app registry."""
        from evalsite import checks  # noqa: F401  (registers itself)
        from evalsite.access import create_roles

        # Django sends post_migrate only for apps with models; the groups are auth's.
        post_migrate.connect(create_roles, sender=apps.get_app_config("auth"), dispatch_uid="callboard-roles")
