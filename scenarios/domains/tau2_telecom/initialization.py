"""The 20 steps that bring about the trouble a scenario starts with: reference-system.md 5."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from inspect import signature
from typing import Any

from scenarios.domains.base import InitAction, Refusal
from scenarios.domains.tau2_telecom import phone, store
from scenarios.sides import Side
from scenarios.state.overlay import Overlay


@dataclass(frozen=True)
class Start:
    """What a step works on: its side's database, open for writing, and the day."""

    db: Overlay
    today: date

    @property
    def device(self) -> dict[str, Any]:
        """Return the phone for writing."""
        device: dict[str, Any] = self.db.edit("device")
        return device


Step = Callable[..., None]
STEPS: dict[str, tuple[Side, Step]] = {}


def initialize(action: InitAction, databases: Mapping[Side, Overlay], now: str) -> None:
    """Run one step, or raise Refusal with the reason."""
    side, step = STEPS.get(action.func_name, (None, None))
    if side is None or step is None:
        known = ", ".join(sorted(STEPS))
        raise Refusal("unknown_init_function", f"there is no step {action.func_name!r}; there are {known}")
    if action.side != side:
        raise Refusal("wrong_side", f"{action.func_name} works on the {side} side, not on {action.side!r}")
    start = Start(databases[side], store.day(now))
    try:
        bound = signature(step).bind(start, **action.arguments)
    except TypeError as error:
        raise Refusal("bad_init_arguments", f"{action.func_name}: {error}") from error
    step(*bound.args, **bound.kwargs)


def _step(side: Side, *, searches: bool = False) -> Callable[[Step], Step]:
    """Register a step; with ``searches`` the phone looks for a network afterwards."""

    def register(step: Step) -> Step:
        def run(start: Start, /, *args: Any, **kwargs: Any) -> None:
            step(start, *args, **kwargs)
            if searches:
                phone.search_network(start.db)

        run.__signature__ = signature(step)  # type: ignore[attr-defined]
        STEPS[step.__name__] = (side, run)
        return step

    return register


@_step("user")
def set_user_info(start: Start, name: str, phone_number: str) -> None:
    """Say whose phone it is."""
    start.db.edit("surroundings").update(name=name, phone_number=phone_number)


@_step("user")
def set_user_location(start: Start, abroad: bool) -> None:
    """Take the caller abroad, or home."""
    start.db.edit("surroundings")["is_abroad"] = abroad


@_step("user", searches=True)
def set_network_mode_preference(start: Start, mode: str) -> None:
    """Prefer one kind of network."""
    if mode not in phone.PREFERENCES:
        raise Refusal("network_mode_unknown", f"there is no mode {mode!r}; there are {', '.join(phone.PREFERENCES)}")
    start.device["network_mode_preference"] = mode


@_step("user", searches=True)
def simulate_network_search(start: Start) -> None:
    """Only search."""


@_step("user", searches=True)
def turn_airplane_mode_on(start: Start) -> None:
    """Cut every connection."""
    start.device["airplane_mode"] = True
    phone.drop_wifi(start.device)
    phone.drop_vpn(start.device)


@_step("user", searches=True)
def unseat_sim_card(start: Start) -> None:
    """Take the SIM card out."""
    start.device["sim_card_missing"] = True


@_step("user", searches=True)
def lock_sim_card(start: Start, mode: str) -> None:
    """Lock the SIM card, which nobody in a call can undo."""
    if mode not in ("pin", "puk"):
        raise Refusal("sim_lock_unknown", f"a SIM card is locked by 'pin' or 'puk', not by {mode!r}")
    start.device["sim_card_status"] = f"locked_{mode}"


@_step("user", searches=True)
def turn_data_off(start: Start) -> None:
    """Switch mobile data off."""
    start.device["data_enabled"] = False


@_step("user", searches=True)
def turn_roaming_on(start: Start) -> None:
    """Switch data roaming on at the phone."""
    start.device["roaming_enabled"] = True


@_step("user", searches=True)
def turn_roaming_off(start: Start) -> None:
    """Switch data roaming off at the phone."""
    start.device["roaming_enabled"] = False


@_step("user")
def turn_data_saver_mode_on(start: Start) -> None:
    """Limit the use of data."""
    start.device["data_saver_mode"] = True


@_step("user", searches=True)
def break_apn_settings(start: Start) -> None:
    """Set an access point that does not work."""
    start.device["active_apn_settings"]["apn_name"] = phone.BROKEN_APN


@_step("user")
def break_apn_mms_setting(start: Start) -> None:
    """Forget the address for picture messages."""
    start.device["active_apn_settings"]["mmsc_url"] = None


@_step("user")
def set_wifi_calling(start: Start, enabled: bool, mms_over_wifi: bool | None = None) -> None:
    """Set Wi-Fi Calling, and whether picture messages go that way."""
    start.device["wifi_calling_enabled"] = enabled
    if mms_over_wifi is not None:
        start.device["wifi_calling_mms_over_wifi"] = mms_over_wifi


@_step("user")
def break_vpn(start: Start) -> None:
    """Connect a VPN that is slow."""
    start.device.update(vpn_connected=True, vpn_details={**phone.DEFAULT_VPN, "server_performance": "poor"})


@_step("user")
def remove_app_permission(start: Start, app_name: str, permission: str) -> None:
    """Take a permission from an app; one that does not exist is not missed."""
    permissions = start.device["app_statuses"].get(app_name, {}).get("permissions", {})
    if permission.lower() in permissions:
        permissions[permission.lower()] = False


@_step("agent")
def enable_roaming(start: Start, customer_id: str, line_id: str) -> None:
    """Let the line roam."""
    store.set_roaming(start.db, customer_id, line_id, True)


@_step("agent")
def disable_roaming(start: Start, customer_id: str, line_id: str) -> None:
    """Stop the line from roaming."""
    store.set_roaming(start.db, customer_id, line_id, False)


@_step("agent")
def set_data_usage(start: Start, customer_id: str, line_id: str, data_used_gb: float) -> None:
    """Set what the line has used in this cycle."""
    store.require_line(start.db, customer_id, line_id)
    try:
        used = float(data_used_gb)
    except (TypeError, ValueError) as error:
        raise Refusal("bad_init_arguments", f"set_data_usage: {data_used_gb!r} is no number of GB") from error
    store.edit(start.db, "lines", line_id)["data_used_gb"] = used


@_step("agent")
def suspend_line_for_overdue_bill(
    start: Start, customer_id: str, line_id: str, new_bill_id: str, contract_ended: bool = False
) -> None:
    """Leave last month's plan price unpaid, and suspend the line for it."""
    line = store.require_line(start.db, customer_id, line_id)
    if line["status"] != "Active":
        raise store.refusal("line_not_active", f"line {line_id} is {line['status']}, not Active")
    bills = store.bills_of(start.db, store.require_customer(start.db, customer_id))
    if any(bill["status"] == "Overdue" for bill in bills):
        raise store.refusal("overdue_bill_exists", f"customer {customer_id} has an overdue bill already")
    price = store.require_plan(start.db, line)["price_per_month"]
    bill = store.add_bill(start.db, customer_id, new_bill_id, "Overdue", store.first_day(start.today, -1))
    store.add_charge(bill, f"Charge for line {line_id}", price, start.today)
    line = store.edit(start.db, "lines", line_id)
    line["status"], line["suspension_start_date"] = "Suspended", start.today.isoformat()
    if contract_ended:
        line["contract_end_date"] = (store.first_day(start.today) - timedelta(days=1)).isoformat()
