"""Socket routes of the live pages."""

from django.urls import URLPattern

websocket_urlpatterns: list[URLPattern] = []
