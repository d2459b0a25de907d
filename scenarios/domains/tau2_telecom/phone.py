"""The caller's phone: how it finds a network, and what follows from its settings: reference-system.md 3.4."""

from collections.abc import Mapping
from typing import Any

from scenarios.state.overlay import Overlay

Record = Mapping[str, Any]

# Technologies by preference, best first.
PREFERENCES: dict[str, tuple[str, ...]] = {
    "4g_5g_preferred": ("5G", "4G"),
    "4g_only": ("4G",),
    "3g_only": ("3G",),
    "2g_only": ("2G",),
}
CONNECTION_STATUSES = ("connected", "searching", "no_service", "emergency_only")
DEFAULT_APN = {
    "apn_name": "internet",
    "reset_at_reboot": False,
    "mms_apn": "mms",
    "mmsc_url": "http://mms.carrier.com/mms/wapenc",
    "mms_proxy": None,
    "mms_port": None,
}
BROKEN_APN = "broken"
DEFAULT_VPN = {"server_address": "192.168.1.1", "protocol": "OpenVPN", "server_performance": "excellent"}
NO_CONNECTION = "No Connection"

_DEFAULT_SIGNALS = {"2G": "poor", "3G": "fair", "4G": "good", "5G": "excellent"}
# Mean of the technology's range, in Mbps.
_SPEEDS = {"2G": (0.1 + 0.4) / 2, "3G": (1 + 5) / 2, "4G": (10 + 100) / 2, "5G": (50 + 500) / 2}
_SIGNAL_FACTORS = {"poor": 0.2, "fair": 0.5, "good": 0.8, "excellent": 1.0}
# (speed below which the label holds, in Mbps; label)
_LABELS = ((1, "Very Poor"), (5, "Poor"), (25, "Fair"), (100, "Good"))
# As the tech support manual says they look.
_SIGNAL_ICONS = {"none": "📵 No Signal", "poor": "📶¹ Poor", "fair": "📶² Fair", "good": "📶³ Good"} | {
    "excellent": "📶⁴ Excellent"
}


def sim_status(device: Record) -> str:
    """Return ``active``, ``missing``, ``locked_pin`` or ``locked_puk``."""
    return "missing" if device["sim_card_missing"] else str(device["sim_card_status"])


def reception(device: Record, surroundings: Record) -> tuple[str, str, str]:
    """Return connection status, technology and signal strength as a search finds them."""
    if (
        sim_status(device) != "active"
        or device["airplane_mode"]
        or device["active_apn_settings"]["apn_name"] == BROKEN_APN
        or not surroundings["line_active"]
    ):
        return "no_service", "none", "none"
    signals = {**_DEFAULT_SIGNALS, **surroundings["signal_strength"]}
    wanted = PREFERENCES[device["network_mode_preference"]]
    technology = next((one for one in wanted if signals[one] != "none"), wanted[-1])
    return "connected", technology, signals[technology]


def search_network(db: Overlay) -> None:
    """Let the phone look for a network again; inside a transaction."""
    device = db.edit("device")
    status, technology, signal = reception(device, db.get("surroundings"))
    device["network_connection_status"] = status
    device["network_technology_connected"] = technology
    device["network_signal_strength"] = signal


def drop_wifi(device: dict[str, Any]) -> None:
    """Disconnect from Wi-Fi; the radio stays as it is."""
    device.update(wifi_connected=False, wifi_ssid=None, wifi_signal_strength="none")


def drop_vpn(device: dict[str, Any]) -> None:
    """Disconnect from the VPN."""
    device.update(vpn_connected=False, vpn_details=None)


def mobile_data_works(db: Overlay) -> bool:
    """Return whether the phone can use mobile data where it is."""
    device, surroundings = db.get("device"), db.get("surroundings")
    may_roam = device["roaming_enabled"] and surroundings["roaming_allowed"]
    return bool(
        not device["airplane_mode"]
        and device["network_signal_strength"] != "none"
        and device["network_connection_status"] != "no_service"
        and (may_roam or not surroundings["is_abroad"])
        and device["data_enabled"]
        and not surroundings["mobile_data_usage_exceeded"]
    )


def speed(db: Overlay) -> tuple[float, str] | None:
    """Return download speed in Mbps and its label; None without a connection."""
    device = db.get("device")
    technology, signal = device["network_technology_connected"], device["network_signal_strength"]
    if not mobile_data_works(db) or technology not in _SPEEDS:
        return None
    mbps = _SPEEDS[technology] * _SIGNAL_FACTORS[signal]
    if device["vpn_connected"] and (device["vpn_details"] or {}).get("server_performance") == "poor":
        mbps *= 0.1
    if device["data_saver_mode"]:
        mbps *= 0.2
    mbps = round(mbps, 2)
    return mbps, next((label for bound, label in _LABELS if mbps < bound), "Excellent")


def can_send_mms(db: Overlay) -> bool:
    """Return whether the messaging app can send picture messages."""
    device = db.get("device")
    permissions = device["app_statuses"].get("messaging", {}).get("permissions", {})
    return bool(
        mobile_data_works(db)
        and device["network_technology_connected"] != "2G"
        and not (device["wifi_calling_enabled"] and device["wifi_calling_mms_over_wifi"])
        and device["active_apn_settings"]["mmsc_url"] is not None
        and permissions.get("storage")
        and permissions.get("sms")
    )


def status_bar(db: Overlay) -> str:
    """Return what the top of the screen shows, in the icons of the tech support manual."""
    device = db.get("device")
    shown = ["✈️ Airplane Mode"] if device["airplane_mode"] else _cellular_icons(device)
    if device["wifi_connected"]:
        shown.append(f"📡 Connected to {device['wifi_ssid']}" if device["wifi_ssid"] else "📡 Enabled")
    if device["vpn_connected"]:
        shown.append("🔒 VPN Connected")
    shown.append(f"🔋 {device['battery_level']}%")
    return "Status bar: " + " | ".join(shown)


def _cellular_icons(device: Record) -> list[str]:
    signal, technology = device["network_signal_strength"], device["network_technology_connected"]
    is_connected = technology != "none"
    has_data = is_connected and device["data_enabled"]
    return [
        _SIGNAL_ICONS[signal],
        *([technology] if is_connected else []),
        "📱 Data Enabled" if has_data else "📵 Data Disabled",
        *(["🔽 Data Saver"] if has_data and device["data_saver_mode"] else []),
    ]
