# ruff: noqa: E501  pages, as they come
"""Pages of many kinds as frameworks and people write them: those that only scripts fill, and short ones that say something.

``site`` says how many pages of one host are alike: a shell with a menu is told by what all pages of its host share.
"""

from __future__ import annotations

import json

MENU = "".join(
    f'<li><a href="/{name}">{name.title()}</a></li>' for name in ("products", "pricing", "docs", "blog", "about", "jobs")
)
FOOTER = "<footer><p>© 2026 Harbour Works Ltd. All rights reserved.</p><a href=/imprint>Imprint</a><a href=/privacy>Privacy</a></footer>"
VITE = (
    '<script type="module" crossorigin src="/assets/index-4f2.js"></script><link rel="stylesheet" href="/assets/index-9a.css">'
)
TEXT = (
    "The lighthouse at the end of the northern mole was built in 1890, when the harbour was made deeper for steamers. "
    "It has been restored twice, and its lamp can be seen from twenty miles away."
)
LONG_MENU = "".join(
    f"<h3>Range {n}</h3><p>All about our range number {n}, for home and garden</p><a href=/r{n}>Range {n}</a>"
    for n in range(40)
)


def shell(body: str, *, head: str = VITE, title: str = "Harbour Works") -> str:
    return f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>{head}</head><body>{body}</body></html>'


def data(name: str, value: object) -> str:
    return f'<script id="{name}" type="application/json">{json.dumps(value)}</script>'


NOTICES = {
    "zh": "请启用浏览器的脚本功能以继续访问本网站",
    "ja": "このサイトを利用するにはスクリプトを有効にしてください",
    "ru": "Чтобы продолжить, включите сценарии в настройках браузера",
    "de": "Bitte schalten Sie in Ihrem Browser Skripte ein, um fortzufahren",
    "ar": "يرجى تفعيل البرامج النصية في متصفحك للمتابعة",
    "fr": "Veuillez activer les scripts de votre navigateur pour continuer",
}
PROPS = {"props": {"pageProps": {"title": "The lighthouse", "body": TEXT, "link": "/mole"}}, "page": "/", "buildId": "kq3x"}

ALONE: dict[str, str] = {
    "bare root": shell('<div id="root"></div>'),
    "root and comment": shell('<div id="root"><!-- app --></div>', head="<script src=/static/js/main.js defer></script>"),
    "root, menu and footer": shell(f'<header><nav><ul>{MENU}</ul></nav></header><div id="root"></div>{FOOTER}'),
    "root after a long menu": shell(f'<nav><ul>{MENU * 12}</ul></nav><main><div id="app"></div></main>{FOOTER}'),
    **{
        f"notice {name}": shell(f'<noscript><strong>{text}</strong></noscript><div id="shell"></div>')
        for name, text in NOTICES.items()
    },
    "notice in the root": shell(f'<div id="app">{NOTICES["zh"]}</div>'),
    "skeleton": shell(
        '<div id="app"><div class="skeleton-line"></div><div class="skeleton-line"></div><p>Loading...</p></div>'
    ),
    "skeleton without a root": shell('<div class="page"><div class="spinner"></div><p>Loading…</p></div>'),
    "skeleton in Chinese": shell('<div class="loading-wrap"><p>正在加载，请稍候…</p></div>'),
    "next without text": shell(
        f'<div id="__next"></div>{data("__NEXT_DATA__", {"props": {"pageProps": {}}, "page": "/", "buildId": "kq3x"})}'
    ),
    "nuxt without text": shell('<div id="__nuxt"></div><script>window.__NUXT__={config:{app:{baseURL:"/"}}}</script>'),
    "angular": shell("<app-root></app-root><script src=main.js type=module></script>", head='<base href="/">'),
    "angular with a spinner": shell(
        '<app-root><div class="boot"><span>Loading portal</span></div></app-root><script src=main.js></script>'
    ),
    "ember": shell(
        '<div id="ember-root"></div><script src="/assets/vendor.js"></script><script src="/assets/shop.js"></script>',
        head='<meta name="shop/config/environment" content="%7B%22a%22%3A1%7D">',
    ),
    "gatsby": shell(
        '<div id="___gatsby"><div style="outline:none" tabindex="-1" id="gatsby-focus-wrapper"></div></div><script src="/app.js"></script>'
    ),
    "custom element": shell("<harbour-shop></harbour-shop>"),
    "svelte": shell('<div style="display: contents"></div><script>kit.start(app)</script>'),
    "quasar": shell('<div id="q-app"></div><script src=/js/app.js></script>', head=""),
    "organization only": shell(
        '<div id="root"></div><script type="application/ld+json">{"@context":"https://schema.org","@type":"Organization","name":"Harbour Works","description":"We build moles, quays and lighthouses for harbours of all sizes."}</script>'
    ),
}
"""Told by one page alone."""

TOGETHER: dict[str, list[str]] = {
    "menu that is no nav": [
        shell(
            f"<div class=top><ul>{MENU * 3}</ul><p>Call us: 0123 456 789, Monday to Friday from nine to five o'clock. {TEXT}</p></div><div id=view></div>{FOOTER}",
            title=f"Page {n}",
        )
        for n in range(4)
    ],
    "long menu": [shell(f"<div class=mega>{LONG_MENU}</div><div id=app></div>{FOOTER}", title=f"Page {n}") for n in range(4)],
    "skeleton in words of its own": [
        shell(
            f"<div class=top><ul>{MENU}</ul></div><section id=view><p>Hold on, we are getting things ready for you</p></section><div id=portal></div>"
        )
        for n in range(4)
    ],
    "canonical and state of its own": [
        shell(
            f'<link rel=canonical href="/p{n}"><div class=top><ul>{MENU}</ul><p>Fresh fish every day of the week</p></div><div id=view></div><script>window.page={n}</script>'
        )
        for n in range(4)
    ],
}
"""Told from the third page of a host on."""

CARRIED: dict[str, str] = {
    "next": shell(f'<div id="__next"></div>{data("__NEXT_DATA__", PROPS)}'),
    "next with a menu": shell(f'<nav>{MENU}</nav><div id="__next"></div>{FOOTER}{data("__NEXT_DATA__", PROPS)}'),
    "next with html": shell(
        f'<div id="__next"></div>{data("__NEXT_DATA__", {"props": {"pageProps": {"post": {"content": f"<p>{TEXT}</p><a href=/mole>The mole</a>"}}}})}'
    ),
    "nuxt 2": shell(
        '<div id="__nuxt"></div><script>window.__NUXT__=(function(a,b){return {data:[{title:"The lighthouse",body:'
        + json.dumps(TEXT)
        + ',url:"\\u002Fmole",draft:a,n:b}]}}(false,1));</script>'
    ),
    "nuxt 3": shell(
        f'<div id="__nuxt"></div>{data("__NUXT_DATA__", [["Reactive", 1], {"title": 2, "body": 3, "url": 4}, "The lighthouse", TEXT, "/mole"])}'
    ),
    "article in JSON-LD": shell(
        '<div id="root"></div><script type="application/ld+json">'
        + json.dumps(
            {
                "@context": "https://schema.org",
                "@type": "NewsArticle",
                "headline": "The lighthouse",
                "articleBody": TEXT,
                "url": "/mole",
            }
        )
        + "</script>"
    ),
    "article in JSON-LD behind its author": shell(
        '<div id="root"></div><script type="application/ld+json">'
        + json.dumps(
            {
                "@type": "NewsArticle",
                "headline": "The lighthouse",
                "author": [{"@type": "Person", "name": "Keeper", "image": {"@type": "ImageObject", "url": "/keeper.png"}}],
                "publisher": {
                    "@type": "Organization",
                    "name": "Harbour Works",
                    "logo": {"@type": "ImageObject", "url": "/l.png"},
                },
                "articleBody": TEXT,
                "url": "/mole",
            }
        )
        + "</script>"
    ),
    "product in JSON-LD": shell(
        '<div id="app"></div><script type="application/ld+json">'
        + json.dumps(
            [
                {"@type": "Organization", "name": "Harbour Works"},
                {
                    "@type": "Product",
                    "name": "Lamp",
                    "description": TEXT,
                    "offers": {"@type": "Offer", "url": "http://a.localhost/mole"},
                },
            ]
        )
        + "</script>"
    ),
    "state of another framework": shell(
        '<div id="root"></div><script>window.__PRELOADED_STATE__ = '
        + json.dumps({"article": {"headline": "The lighthouse", "text": TEXT, "href": "/mole"}})
        + ";</script>"
    ),
}
"""The text is in a script, and is `TEXT`; there is a link to ``/mole``."""

REAL: dict[str, str] = {
    "short page": shell("<h1>Opening hours</h1><p>Monday to Friday, nine to five.</p>", head="<script src=/count.js></script>"),
    "short page and widget": shell(
        f'<nav><ul>{MENU}</ul></nav><h1>Contact</h1><p>Write to office@harbour.example or call 0123 456 789.</p><div id="map"></div>{FOOTER}'
    ),
    "gallery": shell(
        "".join(f'<a href="/big/{n}.jpg"><img src="/small/{n}.jpg"></a>' for n in range(12)) + '<div id="lightbox"></div>'
    ),
    "gallery of few": shell('<h1>Photos</h1><img src=1.jpg><img src=2.jpg><div id="lightbox"></div>'),
    "table": shell(
        "<table>" + "".join(f"<tr><td>{n}</td><td>{n * n}</td></tr>" for n in range(9)) + "</table>",
        head="<script src=/sort.js></script>",
    ),
    "redirect stub": shell(
        '<p>Moved to <a href="/new">the new page</a>.</p><script>location.replace("/new")</script>',
        head='<meta http-equiv="refresh" content="0; url=/new">',
    ),
    "script and text": shell(f"<script>{'x();' * 5000}</script><article><h1>Moles</h1><p>{TEXT * 4}</p></article>"),
    "empty directory": shell('<h1>Index of /pub</h1><pre><a href="../">../</a></pre>', head="<script src=/sort.js></script>"),
    "frameset": '<html><head><title>API</title><script>targetPage = ""</script></head><frameset cols="20%,80%"><frame src="list.html"><frame src="summary.html"></frameset></html>',
    "frameset with words": '<html><head><title>API</title><script>x()</script></head><frameset><frame src="list.html"><noframes><h2>Frame Alert</h2><p>This document needs frames.</noframes></frameset></html>',
    "iframe of the site": shell('<iframe src="/doc/content.html"></iframe>'),
    "not found": shell(
        f'<nav><ul>{MENU}</ul></nav><h1>Page not found</h1><p>Sorry, there is nothing here.</p><div id="toast"></div>'
    ),
    "index of links": shell(
        "<h1>Chapters</h1>"
        + "".join(f"<a href=/c{n}>Chapter {n}</a> " for n in range(30))
        + '<noscript>Scripts are needed to search</noscript><div id="search"></div>'
    ),
    "server-rendered": shell(
        f'<div id="__next"><nav>{MENU}</nav><main><h1>The lighthouse</h1><p>{TEXT}</p></main></div>{data("__NEXT_DATA__", PROPS)}'
    ),
    "short server-rendered": shell(
        f'<div id="root"><h1>Hours</h1><p>Monday to Friday, nine to five.</p></div>{data("__NEXT_DATA__", {"props": {"hours": "Monday to Friday, nine to five."}})}'
    ),
    "consent pixel": shell(
        '<p>Ferries leave at eight and at ten.</p><noscript><iframe src="https://www.googletagmanager.com/ns.html?id=1" style="display:none"></iframe></noscript><div id="fb-root"></div>'
    ),
    "page of a comment service": shell(
        '<h1>Notes</h1><p>A short note about ropes, of which we have many.</p><div id="disqus_thread"></div><noscript>Please enable JavaScript to view the comments.</noscript>'
    ),
    "canvas game": shell("<h1>Snake</h1><p>Use the arrow keys.</p><canvas></canvas><script>play()</script>"),
    "code sample": shell("<h1>How to write JavaScript</h1><p>A page about it.</p><script>x()</script>", head=""),
    "search form": shell("<h1>Find a berth</h1><form><input name=q><button>Search</button></form><div id=results></div>"),
}
"""Not hollow, though short."""
