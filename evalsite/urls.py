"""Every HTTP route of the site."""

from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.urls import URLPattern, URLResolver, path

from evalsite.pages import account, errors, health, home, runs

handler400 = errors.bad_request
handler403 = errors.forbidden
handler404 = errors.not_found
handler500 = errors.server_error

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.home, name="home"),
    path("healthz/", health.healthz, name="healthz"),
    path("sign-in/", auth.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("sign-in/<str:token>/", account.sign_in_link, name="sign-in-link"),
    path("sign-out/", login_not_required(auth.LogoutView.as_view()), name="logout"),
    path("theme/", account.theme, name="theme"),
    path("runs/", runs.run_list, name="run-list"),
]
