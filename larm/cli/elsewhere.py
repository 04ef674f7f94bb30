"""What other programs call what larm has: for who types it. Constants; used by the command line when it refuses something."""

from typing import Final

COMMANDS: Final = {
    "resume": "crawl", "continue": "crawl", "run": "crawl", "start": "crawl",
    "stop": "ctl stop", "pause": "ctl pause", "status": "ctl status", "list": "export",
    "fetch": "cat", "shell": "cat", "view": "cat", "urltest": "why --scope", "readdb": "why",
    "inject": "crawl @FILE", "generate": "crawl", "parse": "reindex", "index": "reindex",
    "validate": "check", "settings": "check", "config": "check", "startproject": "init",
    "delete": "forget", "remove": "forget", "dump": "export", "man": "help", "manual": "help",
}  # fmt: skip
"""Commands of wget2, Scrapy, Nutch, Heritrix, YaCy, Elastic's crawler."""

_AGAIN, _DEPTH, _FOLLOWED = "the same command again, which goes on", "--max-depth", "nothing: links are followed"
_SITES = "sites in config.yaml; 'larm help sites' says how"
_EXPORT = "'larm export --format jsonl', afterwards and as often as you like"
CRAWL: Final = {
    "--resume": _AGAIN, "--continue": _AGAIN, "-c": _AGAIN, "--timestamping": _AGAIN, "-N": _AGAIN,
    "--recursive": _FOLLOWED, "-r": _FOLLOWED, "--mirror": _FOLLOWED, "-m": _FOLLOWED,
    "--level": _DEPTH, "-l": _DEPTH, "--depth": _DEPTH, "-depth": _DEPTH,
    "--no-parent": "--below", "-np": "--below", "--span-hosts": "--domain", "-H": "--domain", "--domains": "--domain",
    "--accept": "--include", "-A": "--include", "--reject": "--exclude", "-R": "--exclude",
    "--wait": "--delay", "-w": "--delay", "--rate": "--delay", "--limit-rate": "--delay", "--concurrency": "--per-host",
    "--quota": "--max-bytes", "-Q": "--max-bytes", "--limit": "--max-pages", "--pages": "--max-pages",
    "--topN": "--max-pages", "-topN": "--max-pages", "--input-file": "@FILE", "-i": "@FILE",
    "--jobdir": "--dir", "--directory-prefix": "--dir", "-P": "--dir", "--warc-file": "--warc",
    "--page-requisites": "-s processing.follow_embedded=true", "-p": "-s processing.follow_embedded=true",
    "--ignore-robots": "-s robots.obey=false, for sites of your own", "-e": "-s KEY=VALUE", "-a": "-s KEY=VALUE",
    "--user-agent": "-s agent.name=NAME", "-U": "-s agent.name=NAME",
    "--proxy": _SITES, "--header": _SITES, "--user": _SITES, "--cookies": _SITES, "--load-cookies": _SITES,
    "-o": _EXPORT, "-O": _EXPORT, "--output": _EXPORT, "--loglevel": "-v", "-L": "-v", "--nolog": "-q",
}  # fmt: skip
"""Options of wget, Scrapy, Nutch and HTTrack for a crawl."""
