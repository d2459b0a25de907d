"""The frame of every page in a real browser: keyboard, colours, zone, small screens, no script, signed out."""

import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from playwright.sync_api import BrowserContext, Page, expect

from scenarios import catalogue
from scenarios.models import Run
from scenarios.profiles import load_standins
from tests.browser.conftest import Complaints, Site, expect_no_wider
from tests.factories import make_run

pytestmark = pytest.mark.browser
Open = Callable[[User, str], Page]
NewContext = Callable[..., BrowserContext]


@pytest.fixture
def run(transactional_db: None) -> Run:
    catalogue.sync()
    load_standins()
    return make_run(3, 2, ["pass", "pass", "fail", "pass", "stalled", "pass"], title="Release 2")


def test_the_keyboard_map_opens_and_closes(run: Run, open_as: Open, viewer: User) -> None:
    page = open_as(viewer, "/")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    page.locator("[data-keys]").click()
    expect(page.locator("#keys")).to_be_visible()


def test_places_are_two_keys_away(run: Run, site: Site, open_as: Open, operator: User) -> None:
    page = open_as(operator, "/")
    for key, place in (("r", "/runs/"), ("s", "/scenarios/"), ("l", "/live/"), ("n", "/runs/new"), ("h", "/")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(site.url + place)


def test_rows_are_walked_opened_and_left_with_keys(run: Run, open_as: Open, viewer: User) -> None:
    make_run(1, title="Newest")
    page = open_as(viewer, "/runs/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("a:focus")).to_have_text("Release 2")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/runs/{run.pk}/")
    page.keyboard.press("f")
    expect(page.locator(":focus")).to_have_class("cell is-stalled")
    page.keyboard.press("f")
    expect(page.locator(":focus")).to_have_class("cell is-fail")
    page.keyboard.press("j")
    expect(page.locator(":focus")).to_have_class("cell is-pass")
    page.keyboard.press("k")
    expect(page.locator(":focus")).to_have_id(f"cell-{run.trials.get(outcome='fail').pk}")
    page.keyboard.press("u")
    page.wait_for_url("**/runs/")


def test_keys_do_nothing_while_one_types(run: Run, open_as: Open, viewer: User) -> None:
    page = open_as(viewer, "/runs/")
    page.keyboard.press("/")
    page.keyboard.type("gr?j")
    expect(page.locator("#q")).to_have_value("gr?j")
    expect(page.locator("#keys")).to_be_hidden()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()


def test_a_choice_of_colours_lasts(run: Run, open_as: Open, viewer: User) -> None:
    page = open_as(viewer, "/runs/")
    page.emulate_media(color_scheme="light")
    ground = page.locator("body")
    expect(ground).to_have_css("background-color", "rgb(246, 246, 243)")
    page.get_by_label("Dark colours").click()
    expect(ground).to_have_css("background-color", "rgb(20, 22, 26)")
    page.reload()
    expect(ground).to_have_css("background-color", "rgb(20, 22, 26)")
    page.get_by_label("Colours as the system has them").click()
    expect(ground).to_have_css("background-color", "rgb(246, 246, 243)")


def test_times_come_in_the_browsers_zone_from_the_second_page_on(
    run: Run, site: Site, new_context: NewContext, viewer: User
) -> None:
    client = Client()
    client.force_login(viewer)
    context = new_context(timezone_id="Asia/Kathmandu")
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": site.url}])
    page = context.new_page()
    page.goto(f"{site.url}/runs/")
    expect(page.locator("time").first).to_have_attribute("title", re.compile("UTC$"))
    page.reload()
    expect(page.locator("time").first).to_have_attribute("title", re.compile(r"\+0545$"))


PAGES = ("/", "/runs/", "/runs/{run}/", "/runs/new", "/scenarios/", "/scenarios/frontdesk/", "/settings/")
MORE_PAGES = ("/settings/people/", "/settings/system/", "/settings/profiles/new/agent/", "/live/", "/nowhere/")


def test_no_page_scrolls_sideways_on_a_telephone(
    run: Run, site: Site, open_as: Open, admin: User, complaints: Complaints
) -> None:
    complaints.expect("404")
    page = open_as(admin, "/")
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        for path in (*PAGES, *MORE_PAGES):
            page.goto(site.url + path.format(run=run.pk))
            expect_no_wider(page)
            assert page.evaluate("innerWidth") == width, path


def test_pages_can_be_read_without_script(run: Run, site: Site, new_context: NewContext, viewer: User) -> None:
    client = Client()
    client.force_login(viewer)
    context = new_context(java_script_enabled=False)
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": site.url}])
    page = context.new_page()
    page.goto(f"{site.url}/runs/{run.pk}/?outcome=fail")
    expect(page.locator(".rate.large")).to_contain_text("4/6")
    expect(page.locator(".grid tbody tr")).to_have_count(1)
    page.locator(".grid .cell.is-fail").click()
    expect(page).to_have_url(re.compile("/trials/"))
    page.goto(f"{site.url}/runs/")
    page.locator("#q").fill("nothing like it")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_text("No run matches these filters")).to_be_visible()
    page.get_by_label("Dark colours").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_an_expired_session_leads_to_the_form_and_back(run: Run, open_as: Open, operator: User) -> None:
    page = open_as(operator, "/runs/new")
    expect(page.locator("#summary .figure")).to_be_visible()
    Session.objects.all().delete()
    page.locator("#id_trials").fill("3")
    page.wait_for_url("**/sign-in/?next=%2Fruns%2Fnew")
    page.locator("#id_username").fill("operator")
    page.locator("#id_password").fill("operator-password")
    page.locator("#id_password").press("Enter")
    page.wait_for_url("**/runs/new")


def test_a_site_that_went_away_is_said_on_the_page(
    run: Run, site: Site, open_as: Open, operator: User, complaints: Complaints
) -> None:
    complaints.expect_outage()
    page = open_as(operator, "/runs/new")
    expect(page.locator("#summary .figure")).to_be_visible()
    site.kill()
    page.locator("#id_trials").fill("3")
    expect(page.locator("#problem")).to_contain_text("The site cannot be reached")
    expect(page.locator("#id_trials")).to_have_value("3")
