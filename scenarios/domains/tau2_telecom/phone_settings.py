"""What the caller can change on the phone. Each answer ends with the status bar as it is afterwards."""

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, PrivateAttr, WithJsonSchema, model_validator

from scenarios.domains.base import Refusal, Tool, ToolArguments, ToolContext, ToolKind
from scenarios.domains.tau2_telecom import phone
from scenarios.domains.tau2_telecom.phone_checks import OfApp, PhoneTool, on_off, require_app


class PhoneWrite(PhoneTool):
    """Base of what changes the phone."""

    kind: ClassVar[ToolKind] = "write"


def _report(context: ToolContext, text: str, record: dict[str, Any]) -> str:
    context.record = record
    return f"{text}\n{phone.status_bar(context.db)}"


class Switch(PhoneWrite):
    """Base of the plain switches: one field of the device, on or off."""

    field: ClassVar[str]
    label: ClassVar[str]
    # Whether the phone looks for a network afterwards.
    searches: ClassVar[bool] = False

    def run(self, args: Any, context: ToolContext) -> Any:
        """Turn it over."""
        device = context.db.edit("device")
        device[self.field] = is_on = not device[self.field]
        if self.searches:
            phone.search_network(context.db)
        return _report(context, f"{self.label} is now {on_off(is_on)}.", {self.field: is_on})


class ToggleDataTool(Switch):
    """Mobile data."""

    description = "Turn mobile data on or off."
    field = "data_enabled"
    label = "Mobile data"
    searches = True


class ToggleRoamingTool(Switch):
    """Data roaming."""

    description = "Turn data roaming on or off."
    field = "roaming_enabled"
    label = "Data roaming"
    searches = True


class ToggleDataSaverModeTool(Switch):
    """Data Saver."""

    description = "Turn Data Saver mode on or off."
    field = "data_saver_mode"
    label = "Data Saver mode"


class ToggleWifiCallingTool(Switch):
    """Wi-Fi Calling."""

    description = "Turn Wi-Fi Calling on or off."
    field = "wifi_calling_enabled"
    label = "Wi-Fi Calling"


class ToggleAirplaneModeTool(PhoneWrite):
    """Airplane mode, which cuts Wi-Fi and VPN."""

    description = "Turn airplane mode on or off. On, it cuts every connection."

    def run(self, args: Any, context: ToolContext) -> Any:
        """Turn it over."""
        device = context.db.edit("device")
        device["airplane_mode"] = is_on = not device["airplane_mode"]
        if is_on or device["wifi_enabled"]:
            phone.drop_wifi(device)
        if is_on:
            phone.drop_vpn(device)
        phone.search_network(context.db)
        return _report(context, f"Airplane mode is now {on_off(is_on)}.", {"airplane_mode": is_on})


class ToggleWifiTool(PhoneWrite):
    """The Wi-Fi radio. It never joins a network by itself."""

    description = "Turn Wi-Fi on or off. Not possible in airplane mode."

    def run(self, args: Any, context: ToolContext) -> Any:
        """Turn it over."""
        if context.db.get("device")["airplane_mode"]:
            raise Refusal("blocked_by_airplane_mode", "Wi-Fi cannot be switched in airplane mode.", "tool_error")
        device = context.db.edit("device")
        device["wifi_enabled"] = is_on = not device["wifi_enabled"]
        if not is_on:
            phone.drop_wifi(device)
        return _report(context, f"Wi-Fi is now {on_off(is_on)}.", {"wifi_enabled": is_on})


class SetNetworkModePreferenceTool(PhoneWrite):
    """Which kind of network the phone prefers."""

    description = "Set which kind of network the phone prefers."

    class Arguments(ToolArguments):
        """The mode, exactly."""

        mode: str = Field(description=f"One of {', '.join(phone.PREFERENCES)}.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Set it and search."""
        if args.mode not in phone.PREFERENCES:
            known = ", ".join(phone.PREFERENCES)
            raise Refusal("network_mode_unknown", f"There is no mode {args.mode!r}; there are {known}.", "tool_error")
        context.db.edit("device")["network_mode_preference"] = args.mode
        phone.search_network(context.db)
        return _report(context, f"Preferred mode is now {args.mode}.", {"network_mode_preference": args.mode})


class ReseatSimCardTool(PhoneWrite):
    """Takes the SIM card out and puts it back: helps a missing one, not a locked one."""

    description = "Take the SIM card out and put it in again."

    def run(self, args: Any, context: ToolContext) -> Any:
        """Seat it and search."""
        context.db.edit("device")["sim_card_missing"] = False
        phone.search_network(context.db)
        return _report(context, "The SIM card is seated again.", {"sim_card_missing": False})


class ApnSettings(ToolArguments):
    """An access point; what is left out gets its default."""

    apn_name: Literal["internet", "broken"] = "internet"
    reset_at_reboot: bool = False
    mms_apn: str | None = "mms"
    mmsc_url: str | None = phone.DEFAULT_APN["mmsc_url"]  # type: ignore[assignment]
    mms_proxy: str | None = None
    mms_port: int | None = None
    _said: dict[str, Any] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _remember(cls, value: Any, handler: Callable[[Any], "ApnSettings"]) -> "ApnSettings":
        settings = handler(value)
        settings._said = dict(value)
        return settings

    @property
    def said(self) -> dict[str, Any]:
        """Return the settings as they were said, which is how they are recorded."""
        return self._said


class SetApnSettingsTool(PhoneWrite):
    """The access point by hand."""

    description = "Set the APN settings by hand."

    class Arguments(ToolArguments):
        """The model is shown no fields, as in the reference."""

        apn_settings: Annotated[
            ApnSettings, WithJsonSchema({"type": "object", "description": f"Any of {', '.join(phone.DEFAULT_APN)}."})
        ]

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Replace them and search."""
        settings = args.apn_settings.model_dump()
        context.recorded_arguments["apn_settings"] = args.apn_settings.said
        context.db.edit("device")["active_apn_settings"] = settings
        phone.search_network(context.db)
        return _report(context, f"APN settings now: {settings['apn_name']}", dict(settings))


class ResetApnSettingsTool(PhoneWrite):
    """Asks for the default access point, which comes with the next reboot."""

    description = "Reset the APN settings to their defaults. Takes effect after a reboot."

    def run(self, args: Any, context: ToolContext) -> Any:
        """Note it for the reboot."""
        context.db.edit("device")["active_apn_settings"]["reset_at_reboot"] = True
        phone.search_network(context.db)
        return _report(context, "The APN settings will be reset at the next reboot.", {"reset_at_reboot": True})


class ConnectVpnTool(PhoneWrite):
    """A VPN over the default server."""

    description = "Connect to the VPN."

    def run(self, args: Any, context: ToolContext) -> Any:
        """Connect, if that is not so already."""
        if context.db.get("device")["vpn_connected"]:
            context.is_noop = True
            return "The VPN is connected already."
        context.db.edit("device").update(vpn_connected=True, vpn_details=dict(phone.DEFAULT_VPN))
        return _report(context, "The VPN is connected.", {"vpn_connected": True})


class DisconnectVpnTool(PhoneWrite):
    """Ends the VPN."""

    description = "Disconnect the VPN."

    def run(self, args: Any, context: ToolContext) -> Any:
        """Disconnect, if there is anything to."""
        if not context.db.get("device")["vpn_connected"]:
            context.is_noop = True
            return _report(context, "There is no active VPN.", {})
        phone.drop_vpn(context.db.edit("device"))
        return _report(context, "The VPN has been left.", {"vpn_connected": False})


class GrantAppPermissionTool(PhoneWrite):
    """Lets an app do something."""

    description = "Grant a permission to an app."

    class Arguments(OfApp):
        """The permission in any case."""

        permission: str = Field(description="Such as 'storage' or 'sms'.")

    def run(self, args: Arguments, context: ToolContext) -> Any:
        """Grant it, also if the app has it."""
        permission = args.permission.lower()
        known = require_app(context.db, args.app_name)["permissions"]
        if permission not in known:
            text = f"{args.app_name} has no permission {args.permission!r}; there are {', '.join(known)}."
            raise Refusal("permission_not_tracked", text, "tool_error")
        app = context.db.edit("device")["app_statuses"][args.app_name]
        app["permissions"][permission] = True
        return _report(context, f"Permission {permission} is granted to the app {args.app_name}.", {"granted": True})


class RebootDeviceTool(PhoneWrite):
    """Starts the phone again, and with it what was waiting for that."""

    description = "Restart the phone."

    def run(self, args: Any, context: ToolContext) -> Any:
        """Reset what was to be reset, and search."""
        device = context.db.edit("device")
        text = "The phone has restarted."
        if device["active_apn_settings"]["reset_at_reboot"]:
            device["active_apn_settings"] = dict(phone.DEFAULT_APN)
            text = "The APN settings have been reset. The phone has restarted."
        phone.search_network(context.db)
        return _report(context, text, {"rebooted": True})


class MakePaymentTool(PhoneWrite):
    """Pays the bill that was asked for."""

    description = "Pay the bill of the payment request."

    def run(self, args: Any, context: ToolContext) -> Any:
        """Mark the request paid; the provider's side learns of it with the next sync."""
        if context.db.get("surroundings")["payment_request"] is None:
            raise Refusal("no_payment_request", "There is no payment request to pay.", "tool_error")
        request = context.db.edit("surroundings")["payment_request"]
        request["paid"] = True
        context.record = {"bill_id": request["bill_id"], "amount": request["amount_due"]}
        return f"Paid {request['amount_due']} USD for bill {request['bill_id']}."


TOOLS: tuple[Tool, ...] = (
    ToggleAirplaneModeTool(),
    ToggleDataTool(),
    ToggleRoamingTool(),
    ToggleDataSaverModeTool(),
    ToggleWifiTool(),
    ToggleWifiCallingTool(),
    SetNetworkModePreferenceTool(),
    ReseatSimCardTool(),
    SetApnSettingsTool(),
    ResetApnSettingsTool(),
    ConnectVpnTool(),
    DisconnectVpnTool(),
    GrantAppPermissionTool(),
    RebootDeviceTool(),
    MakePaymentTool(),
)
