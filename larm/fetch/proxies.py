"""Requests by way of a proxy of ``sites``: what libcurl is told of it, and what the proxy, not the site, is to blame for.

Called by `larm.fetch.transfer` on its thread.
"""

import os
from typing import Any
from urllib.parse import urlsplit

import pycurl

from larm.fetch.classify import trust
from larm.fetch.tls import ca_file

_E_PROXY = 97  # CURLE_PROXY, which pycurl does not name: what SOCKS answers
_ITS_OWN = (pycurl.E_COULDNT_RESOLVE_PROXY, pycurl.E_COULDNT_CONNECT, _E_PROXY)
"""The only connection that libcurl makes then is the one to the proxy."""
_TLS = (pycurl.E_SSL_CONNECT_ERROR, pycurl.E_PEER_FAILED_VERIFICATION)


def set_proxy(handle: Any, proxy: str, *, verify: bool) -> None:
    """``verify``: whether its certificate has to be good, where it is an https: one."""
    handle.setopt(pycurl.PROXY, proxy)
    if proxy.startswith("https:"):
        if certificates := ca_file():
            handle.setopt(pycurl.PROXY_CAINFO, certificates)
        handle.setopt(pycurl.PROXY_SSL_VERIFYPEER, int(verify))
        handle.setopt(pycurl.PROXY_SSL_VERIFYHOST, 2 if verify else 0)


def proxy_fault(handle: Any, proxy: str, error: int, message: str) -> str:
    """Why the proxy brought no answer of the site, in one sentence without its password; "" where it is not to blame."""
    tunnel = handle.getinfo(pycurl.HTTP_CONNECTCODE)
    if 407 in (tunnel, handle.getinfo(pycurl.RESPONSE_CODE)):  # no site says that (RFC 9110, 15.5.8)
        message = "it wants another name or password"
    elif error in _TLS and proxy.startswith("https:") and not tunnel:
        message += trust(error)
    elif error not in _ITS_OWN and not (error and tunnel // 100 > 2):
        return ""
    elif error == pycurl.E_COULDNT_CONNECT and not tunnel:
        message = f"no way there ({os.strerror(handle.getinfo(pycurl.OS_ERRNO))})"
    return f"its proxy, {urlsplit(proxy).netloc.rpartition('@')[2]}: {message}"
