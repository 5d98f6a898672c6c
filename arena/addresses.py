"""Addresses of this machine and of others."""

from __future__ import annotations

import ipaddress

_LOCAL_NAMES = {"localhost", "localhost.localdomain"}


def is_loopback(host: str) -> bool:
    """Whether a host is this machine's own: an address of the loopback, or localhost."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() in _LOCAL_NAMES
