"""What ``sites`` in config.yaml says of requests, ready to be sent. Called at the start, main thread; raises ConfigError."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from larm.building.secrets import must_be_secret, read_private, revealed
from larm.config import Config, Site
from larm.errors import ConfigError
from larm.fetching.site_access import SiteAccess
from larm.model.sites import SiteTable

if TYPE_CHECKING:
    from larm.fetching.cookies import CookieJar

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_SECRET = frozenset({"authorization", "cookie", "proxy-authorization"})
_OURS = frozenset({"host", "user-agent", "content-length", "transfer-encoding", "te", "connection", "accept-encoding"})
_PROXIES = ("http", "https", "socks5", "socks5h")


def site_accesses(settings: Config, directory: Path) -> SiteTable[SiteAccess]:
    """Relative names of files are below ``directory``."""
    return SiteTable({name: _access(site, f"sites.{name}", directory) for name, site in settings.sites.items()})


def _access(site: Site, key: str, directory: Path) -> SiteAccess:
    must_be_secret(site.auth, f"{key}.auth")
    auth = revealed(site.auth, f"{key}.auth", directory)
    if auth and ":" not in auth:
        raise ConfigError(f"{key}.auth: expected NAME:PASSWORD, as in 'me:${{PASSWORD}}'")
    return SiteAccess(
        user_agent=site.user_agent,
        headers=tuple(_header(name, value, f"{key}.headers.{name}", directory) for name, value in site.headers.items()),
        auth=auth.encode(),
        proxy=_proxy(site.proxy, f"{key}.proxy", directory),
        cookies=_jar(site, key, directory),
        keeps_cookies=site.keep_cookies,
    )


def _header(name: str, value: str, key: str, directory: Path) -> bytes:
    if not _NAME.fullmatch(name) or name.lower() in _OURS:
        raise ConfigError(f"{key}: no header that can be set; user_agent sets that one")
    if name.lower() in _SECRET:
        must_be_secret(value, key)
    return f"{name}: {revealed(value, key, directory)}".encode()


def _proxy(text: str, key: str, directory: Path) -> str:
    if not text:
        return ""
    if "@" in text:
        must_be_secret(text.rpartition("@")[0], key)
    address = revealed(text, key, directory)
    try:
        parts = urlsplit(address)
        good = parts.scheme in _PROXIES and parts.hostname and parts.port
    except ValueError:
        good = None
    if not good:
        raise ConfigError(f"{key}: expected SCHEME://HOST:PORT, with one of {', '.join(_PROXIES)}")
    return address


def _jar(site: Site, key: str, directory: Path) -> CookieJar | None:
    if not (site.cookies or site.keep_cookies):
        return None
    from larm.fetching.cookies import CookieJar  # with half of the standard library's HTTP, for who has cookies

    jar = CookieJar()
    if site.cookies:
        path = directory / site.cookies
        read_private(path, f"{key}.cookies")
        try:
            jar.load(path)
        except (OSError, ValueError) as error:
            raise ConfigError(f"{key}.cookies: {path} is no file of cookies in Netscape's form ({error})") from error
    return jar
