"""What the caller can look at on the phone. Each answer is a plain sentence, to be read out."""

from typing import Any, ClassVar

from pydantic import BaseModel, Field

from scenarios.domains.base import NoArguments, Refusal, Tool, ToolArguments, ToolContext
from scenarios.domains.tau2_telecom import phone
from scenarios.domains.tau2_telecom.tool import TelecomTool
from scenarios.sides import Side
from scenarios.state.overlay import Overlay

_SIM = {
    "active": "The SIM card is active.",
    "missing": "There is no SIM card in the phone.",
    "locked_pin": "The SIM card is locked and wants its PIN.",
    "locked_puk": "The SIM card is locked and wants its PUK.",
}
_GOOD_FOR = {
    "Very Poor": "Hardly anything will load.",
    "Poor": "Pages load slowly and video stalls.",
    "Fair": "Pages load well, video only in low quality.",
    "Good": "Pages and video run well.",
    "Excellent": "Everything runs fast.",
}


def on_off(value: bool) -> str:
    """Return a setting as it is read out."""
    return "ON" if value else "OFF"


def yes_no(value: bool) -> str:
    """Return a fact as it is read out."""
    return "yes" if value else "no"


def require_app(db: Overlay, app_name: str) -> Any:
    """Return an app that is installed; the name has to be exact."""
    apps = db.get("device")["app_statuses"]
    if app_name not in apps:
        raise Refusal("app_not_found", f"There is no app {app_name!r}; installed are {', '.join(apps)}.", "tool_error")
    return apps[app_name]


class PhoneTool(TelecomTool):
    """Base of what the caller does with the phone: most of it needs nothing to be said."""

    side: ClassVar[Side] = "user"
    Arguments: ClassVar[type[BaseModel]] = NoArguments


class OfApp(ToolArguments):
    """Which app."""

    app_name: str = Field(description="As the phone shows it, such as 'messaging'.")


class CheckStatusBarTool(PhoneTool):
    """Looks at the top of the screen."""

    description = "Look at the status bar: signal, network, data, airplane mode, VPN, battery."

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return its icons."""
        return phone.status_bar(context.db)


class CheckNetworkStatusTool(PhoneTool):
    """Looks at all connections."""

    description = "Look at the phone's connections: SIM card, cellular, mobile data, roaming, Wi-Fi."

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return a line a setting."""
        device = context.db.get("device")
        rows = {
            "Airplane mode": on_off(device["airplane_mode"]),
            "SIM card": phone.sim_status(device),
            "Cellular connection": device["network_connection_status"],
            "Cellular signal": device["network_signal_strength"],
            "Cellular technology": device["network_technology_connected"],
            "Mobile data switched on": yes_no(device["data_enabled"]),
            "Data roaming switched on": yes_no(device["roaming_enabled"]),
            "Wi-Fi radio": on_off(device["wifi_enabled"]),
            "Wi-Fi in use": yes_no(device["wifi_connected"]),
        }
        return "\n".join(f"{name}: {value}" for name, value in rows.items())


class CheckNetworkModePreferenceTool(PhoneTool):
    """Looks at which kind of network the phone prefers."""

    description = "Look at which kind of network the phone is set to prefer."

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return the mode."""
        return f"Preferred network mode: {context.db.get('device')['network_mode_preference']}"


class CheckSimStatusTool(PhoneTool):
    """Looks at the SIM card."""

    description = "Look at the SIM card: active, missing, or locked with a PIN or PUK."

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return its state."""
        return _SIM[phone.sim_status(context.db.get("device"))]


class CheckDataRestrictionStatusTool(PhoneTool):
    """Looks for what limits data use."""

    description = "Look whether Data Saver mode limits the use of data."

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return whether it does."""
        return f"Data Saver mode is {on_off(context.db.get('device')['data_saver_mode'])}."


class CheckApnSettingsTool(PhoneTool):
    """Looks at the access point."""

    description = "Look at the APN settings: the access point's name, and the address for picture messages."

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return both."""
        apn = context.db.get("device")["active_apn_settings"]
        return f"APN name: {apn['apn_name']}\nMMSC URL, for picture messages: {apn['mmsc_url'] or 'not set'}"


class CheckWifiStatusTool(PhoneTool):
    """Looks at Wi-Fi."""

    description = "Look whether Wi-Fi is on and connected."

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return its state."""
        device = context.db.get("device")
        if device["wifi_connected"]:
            return f"Wi-Fi is ON, connected to {device['wifi_ssid']}, signal {device['wifi_signal_strength']}."
        return "Wi-Fi is ON, but not connected." if device["wifi_enabled"] else "Wi-Fi is OFF."


class CheckWifiCallingStatusTool(PhoneTool):
    """Looks at Wi-Fi Calling."""

    description = "Look whether Wi-Fi Calling is on."

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return whether it is."""
        return f"Wi-Fi Calling is {on_off(context.db.get('device')['wifi_calling_enabled'])}."


class CheckVpnStatusTool(PhoneTool):
    """Looks at the VPN."""

    description = "Look whether a VPN is in use, and how well its server performs."

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return its state."""
        device = context.db.get("device")
        if not device["vpn_connected"]:
            return "VPN is OFF."
        details = ", ".join(f"{name} {value}" for name, value in (device["vpn_details"] or {}).items())
        return f"VPN is ON and connected. {details.replace('_', ' ').capitalize()}."


class CheckInstalledAppsTool(PhoneTool):
    """Lists the apps."""

    description = "List the apps on the phone."

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return their names."""
        return f"Installed apps: {', '.join(context.db.get('device')['app_statuses'])}"


class CheckAppStatusTool(PhoneTool):
    """Looks at one app."""

    description = "Look at one app, with the permissions it has."

    class Arguments(OfApp):
        """Which app."""

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return a line a permission."""
        granted = _granted(context, args.app_name)
        return "\n".join([f"App: {args.app_name}", "Permissions:", *(f"- {name}" for name in granted)])


class CheckAppPermissionsTool(PhoneTool):
    """Looks at what one app may do."""

    description = "Look at which permissions an app has."

    class Arguments(OfApp):
        """Which app."""

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Return the permissions."""
        granted = ", ".join(_granted(context, args.app_name))
        return f"Permissions of the app {args.app_name}: {granted or 'none'}."


def _granted(context: ToolContext, app_name: str) -> list[str]:
    permissions = require_app(context.db, app_name)["permissions"]
    return [name for name, is_granted in permissions.items() if is_granted]


class CanSendMmsTool(PhoneTool):
    """Tries picture messages."""

    description = "Find out whether the messaging app can send picture messages (MMS)."

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return whether it can."""
        return f"The messaging app {'can' if phone.can_send_mms(context.db) else 'cannot'} send MMS."


class CheckPaymentRequestTool(PhoneTool):
    """Looks for a bill to pay."""

    description = "Look whether the provider has asked for a payment."

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return the bill and the amount in dollars."""
        request = context.db.get("surroundings")["payment_request"]
        if request is None:
            return "There is no payment request."
        return f"Payment request: bill {request['bill_id']}, {request['amount_due']} USD."


class RunSpeedTestTool(PhoneTool):
    """Measures the download speed."""

    description = "Measure the download speed of the mobile connection."

    def run(self, args: Any, context: ToolContext) -> Any:
        """Return Mbps, label, and what that is good for."""
        measured = phone.speed(context.db)
        if measured is None:
            return f"Speed test: {phone.NO_CONNECTION}."
        mbps, label = measured
        return f"Speed test: {mbps:.2f} Mbps ({label}). {_GOOD_FOR[label]}"


TOOLS: tuple[Tool, ...] = (
    CheckStatusBarTool(),
    CheckNetworkStatusTool(),
    CheckNetworkModePreferenceTool(),
    CheckSimStatusTool(),
    CheckDataRestrictionStatusTool(),
    CheckApnSettingsTool(),
    CheckWifiStatusTool(),
    CheckWifiCallingStatusTool(),
    CheckVpnStatusTool(),
    CheckInstalledAppsTool(),
    CheckAppStatusTool(),
    CheckAppPermissionsTool(),
    CanSendMmsTool(),
    CheckPaymentRequestTool(),
    RunSpeedTestTool(),
)
