"""Every HTTP route of the site."""

from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.urls import URLPattern, URLResolver, path

from evalsite.pages import (
    account,
    compare,
    errors,
    exports,
    health,
    home,
    imports,
    launch,
    live,
    people,
    preflight,
    run_actions,
    runs,
    scenarios,
    settings,
    trends,
    trials,
)

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
    path("runs/new", launch.run_new, name="run-new"),
    path("runs/new/summary/", launch.run_summary, name="run-summary"),
    path("runs/<int:pk>/", runs.run_detail, name="run-detail"),
    path("runs/<int:pk>/headline/", runs.run_headline, name="run-headline"),
    path("runs/<int:pk>/pause/", run_actions.run_pause, name="run-pause"),
    path("runs/<int:pk>/resume/", run_actions.run_resume, name="run-resume"),
    path("runs/<int:pk>/cancel/", run_actions.run_cancel, name="run-cancel"),
    path("runs/<int:pk>/rerun/", run_actions.run_rerun, name="run-rerun"),
    path("runs/<int:pk>/rescore/", run_actions.run_rescore, name="run-rescore"),
    path("runs/<int:pk>/config.json", run_actions.run_config, name="run-config"),
    path("runs/<int:pk>/export.zip", run_actions.run_export, name="run-export"),
    path("runs/<int:pk>/export/<str:name>/", exports.run_export, name="run-export-as"),
    path("runs/<int:pk>/findings/accept/", imports.findings_accept, name="run-findings-accept"),
    path("imports/", imports.import_list, name="import-list"),
    path("imports/<int:pk>/", imports.import_row, name="import-row"),
    path("imports/<int:pk>/stop/", imports.import_stop, name="import-stop"),
    path("scenarios/", scenarios.scenario_domains, name="scenario-domains"),
    path("scenarios/<str:domain>/", scenarios.scenario_list, name="scenario-list"),
    path("scenarios/<str:domain>/<str:name>/", scenarios.scenario, name="scenario"),
    path("settings/", settings.profiles, name="settings"),
    path("settings/profiles/new/<str:kind>/", settings.profile_new, name="profile-new"),
    path("settings/profiles/<int:pk>/", settings.profile_edit, name="profile-edit"),
    path("settings/profiles/<int:pk>/archive/", settings.profile_archive, name="profile-archive"),
    path("settings/people/", people.people, name="people"),
    path("settings/people/<int:pk>/role/", people.person_role, name="person-role"),
    path("settings/people/<int:pk>/active/", people.person_active, name="person-active"),
    path("settings/people/<int:pk>/link/", people.person_link, name="person-link"),
    path("settings/preflight/", preflight.preflight, name="preflight"),
    path("settings/system/", settings.system, name="system"),
    path("compare/", compare.compare, name="compare"),
    path("compare/pair/", compare.compare_pair, name="compare-pair"),
    path("trends/", trends.trends, name="trends"),
    path("live/", live.live_wall, name="live-wall"),
    path("runs/<int:run>/trials/<str:scenario>/<int:number>/", trials.trial_detail, name="trial-detail"),
    path("runs/<int:run>/trials/<str:scenario>/<int:number>/events/", trials.trial_events, name="trial-events"),
    path("runs/<int:run>/trials/<str:scenario>/<int:number>/events/<int:seq>/", trials.trial_event, name="trial-event"),
    path("runs/<int:run>/trials/<str:scenario>/<int:number>/prompts/", trials.trial_prompts, name="trial-prompts"),
    path("runs/<int:run>/trials/<str:scenario>/<int:number>/judging/", trials.trial_judging, name="trial-judging"),
    path("runs/<int:run>/trials/<str:scenario>/<int:number>/hang-up/", trials.trial_hang_up, name="trial-hang-up"),
    path(
        "runs/<int:run>/trials/<str:scenario>/<int:number>/export/<str:name>/", exports.call_export, name="call-export"
    ),
]
