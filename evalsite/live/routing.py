"""Socket routes of the live pages."""

from django.urls import URLPattern, path

from evalsite.live.audio import AudioConsumer
from evalsite.live.consumers import RunConsumer, TrialConsumer, WallConsumer

websocket_urlpatterns: list[URLPattern] = [
    path("ws/trials/<int:pk>/", TrialConsumer.as_asgi()),
    path("ws/trials/<int:pk>/audio/", AudioConsumer.as_asgi()),
    path("ws/runs/<int:pk>/", RunConsumer.as_asgi()),
    path("ws/live/", WallConsumer.as_asgi()),
]
