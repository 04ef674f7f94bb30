"""What ``sites`` in config.yaml says of requests, ready to be sent. Called at the start, main thread; raises ConfigError.

Its secrets are put in here, on their way to who sends them: from the environment, or from a file that nobody else can read. No
`Config` ever has one, so no log, no figure and no archive has.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from larm.config import Config, Site
from larm.config.file_names import certificate_and_key
from larm.errors import ConfigError
from larm.fetch.terms import SiteAccess
from larm.model.sites import SiteTable

if TYPE_CHECKING:
    from larm.fetch.cookies import CookieJar


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
    certificate, private = _certificate(site, key, directory)
    return SiteAccess(
        user_agent=site.user_agent,
        headers=tuple(_header(name, value, f"{key}.headers.{name}", directory) for name, value in site.headers.items()),
        auth=auth.encode(),
        proxy=_proxy(site.proxy, f"{key}.proxy", directory),
        cookies=_jar(site, key, directory),
        keeps_cookies=site.keep_cookies or False,
        certificate=certificate,
        key=private,
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
    login, at, host = text.rpartition("@")
    if at:
        must_be_secret(login, key)
    address = revealed(login, key, directory, quoted=True) + at + revealed(host, key, directory)
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
    from larm.fetch.cookies import CookieJar  # with half of the standard library's HTTP, for who has cookies

    jar = CookieJar()
    if site.cookies:
        path = directory / site.cookies
        read_private(path, f"{key}.cookies")
        try:
            jar.load(path)
        except (OSError, ValueError) as error:
            raise ConfigError(f"{key}.cookies: {path} is no file of cookies in Netscape's form ({error})") from error
    return jar


def _certificate(site: Site, key: str, directory: Path) -> tuple[bytes, bytes]:
    """Certificate and key, which belong together."""
    if not site.certificate:
        return b"", b""
    import ssl  # for who has one

    name = f"{key}.certificate"
    certificate, private = certificate_and_key(site.certificate, name, directory)
    secret = read_private(private, name).encode()

    def locked() -> str:
        bare = f"'openssl pkey -in {private} -out FILE' writes it without"
        raise ConfigError(f"{name}: the key in {private} has a password, and nobody is there to type it: {bare}")

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(certificate, private, locked)
        return certificate.read_bytes(), secret
    except OSError as error:
        why = getattr(error, "reason", None) or error.strerror
        raise ConfigError(f"{name}: {certificate} is no certificate with its key in PEM ({why})") from error


_PLACE = re.compile(r"\$\{([^}]+)\}")


def revealed(text: str, key: str, directory: Path, environment: Mapping[str, str] = os.environ, *, quoted: bool = False) -> str:
    """``${NAME}``: that variable; ``${file:PATH}``: the first line of a file, relative to ``directory``. Raises ConfigError.

    ``quoted``: secrets are percent-encoded, as they go into an address.
    """

    def secret(found: re.Match[str]) -> str:
        kind, colon, path = found[1].partition(":")
        if colon and kind == "file":
            return read_private(directory / path, key).partition("\n")[0].strip("\r")
        if found[1] not in environment:
            raise ConfigError(f"{key}: the environment has no variable {found[1]}")
        return environment[found[1]]

    value = _PLACE.sub(lambda found: quote(secret(found), safe="") if quoted else secret(found), text)
    if "\n" in value or "\r" in value or "\0" in value:
        raise ConfigError(f"{key}: a line end in it would end the header")
    return value


def must_be_secret(text: str, key: str) -> None:
    """Raises ConfigError where it stands there in plain."""
    if text and not _PLACE.search(text):
        raise ConfigError(
            f"{key}: a password is not written into the configuration: ${{NAME}} takes it from the environment,"
            " ${file:PATH} from a file that only you can read"
        )


def read_private(path: Path, key: str) -> str:
    """A file with secrets. Raises ConfigError where others may read it, too."""
    try:
        if path.stat().st_mode & 0o077:
            raise ConfigError(f"{key}: {path} has secrets, and others may read it: 'chmod 600 {path}'")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise ConfigError(f"{key}: can't read {path}: {why}") from error
