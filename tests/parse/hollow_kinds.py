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
    "swagger": '<!DOCTYPE html><html><head><title>API</title><link rel=stylesheet href=swagger-ui.css></head><body><div id="swagger-ui"></div><script src="./swagger-ui-bundle.js"></script><script>window.onload=function(){}</script></body></html>',
    "docsify": '<!DOCTYPE html><html><head><title>Document</title></head><body><div id="app">Loading ...</div><script>window.$docsify={name:"x"}</script><script src="//cdn/docsify.js"></script></body></html>',
    "blazor": '<html><head><title>App</title><base href="/"></head><body><div id="app"><svg class="loading-progress"><circle r="40%"/></svg><div class="loading-progress-text"></div></div><div id="blazor-error-ui">An unhandled error has occurred.<a href="." class="reload">Reload</a><span class="dismiss">x</span></div><script src="_framework/blazor.webassembly.js"></script></body></html>',
    "flutter": '<html><head><base href="/"><title>demo</title></head><body><script src="flutter_bootstrap.js" async></script></body></html>',
    "mastodon": "<html><head><title>Mastodon</title><script src=/packs/a.js></script></head><body class='app-body'><div class='notranslate app-holder' data-props='{&quot;locale&quot;:&quot;en&quot;}' id='mastodon'><noscript><img src=/packs/logo.svg><div>To use the Mastodon web application, please enable JavaScript. Alternatively, try one of the <a href='https://joinmastodon.org/apps'>native apps</a> for Mastodon for your platform.</div></noscript></div></body></html>",
    "polymer": "<html><head><title>My App</title></head><body><my-app></my-app><noscript>Please enable JavaScript to view this website.</noscript><script src=/a.js></script></body></html>",
    "ionic": "<html><head><title>Ionic App</title></head><body><app-root></app-root><noscript>Please enable JavaScript to continue using this application.</noscript><script src=a.js></script></body></html>",
    "gwt": '<html><head><title>Wiki</title><script src="app/app.nocache.js"></script></head><body><iframe src="javascript:\'\'" id="__gwt_historyFrame" style="width:0;height:0;border:0"></iframe><noscript><div>Your web browser must have JavaScript enabled in order for this application to display correctly.</div></noscript></body></html>',
    "element": '<html><head><title>Element</title></head><body style="height:100%"><noscript>Sorry, Element requires JavaScript to be enabled.</noscript><section id="matrixchat" style="height:100%"></section><script src="bundle.js"></script></body></html>',
    "storybook": '<html><head><title>Storybook</title></head><body><div class="sb-preparing-story sb-wrapper"><div class="sb-loader"></div></div><div id="storybook-root"></div><script type=module src=a.js></script></body></html>',
    "nuxt3 spa": '<html><head><title></title><script type=module src=/_nuxt/e.js></script></head><body><div id="__nuxt"></div><div id="teleports"></div><script type="application/json" data-nuxt-logs="nuxt-app">[[]]</script><script type="application/json" data-nuxt-data="nuxt-app" data-ssr="false" id="__NUXT_DATA__">[{"serverRendered":1},false]</script><script>window.__NUXT__={};window.__NUXT__.config={public:{},app:{baseURL:"/"}}</script></body></html>',
    "menu korean": '<html><head><title>항구</title></head><body><header><a href=/>홈</a><a href=/news>소식</a><a href=/shop>상점</a><a href=/about>소개</a></header><div id="app"><p>잠시만 기다려 주세요</p></div><footer>서울시 중구 1번지 · 전화 02-000-0000</footer><script src=/a.js></script></body></html>',
    "skeleton list": '<html><head><title>Shop</title></head><body><nav><a href=/>Home</a><a href=/a>A</a><a href=/b>B</a><a href=/c>C</a></nav><div id="root"><ul class="skeleton"><li></li><li></li></ul></div><script src=a.js></script></body></html>',
    "menu in root": '<title>A</title><div id="app"><nav><a href=/>Home</a><a href=/about>About</a><a href=/x>X</a><a href=/y>Y</a></nav><main></main></div><script src=/a.js></script>',
    "angular shell": '<title>A</title><app-root><header><a href=/>Home</a><a href=/b>Berths</a><a href=/c>Contact</a><a href=/d>D</a></header><router-outlet></router-outlet><div id="content"></div></app-root><script src=/a.js></script>',
    "visible notice": '<title>A</title><div class="tips">请启用 JavaScript 后重试</div><div id="main"></div><script src=/a.js></script>',
    "long skeleton": '<title>A</title><div id="root"><div class=s><p>Loading your dashboard, please wait a moment while we fetch the latest data</p></div></div><script src=/a.js></script>',
    "h1 loading": '<title>A</title><div id="app"><h1>Loading…</h1></div><script src=/a.js></script>',
    "vue templates": '<title>A</title><div id="app" v-cloak><h1>{{ title }}</h1><p v-for="x in xs">{{ x.text }}</p></div><script src=/a.js></script>',
    "angularjs": '<html ng-app="shop"><title>A</title><body><div ng-view></div><footer>Harbour Works</footer><script src=/a.js></script>',
    "hash menu": '<title>A</title><nav><a href="#/">Home</a><a href="#/news">News</a><a href="#/about">About us</a></nav><div id="app"></div><script src=/a.js></script>',
    "noscript refresh": '<title>A</title><noscript><meta http-equiv="refresh" content="0;url=/nojs"></noscript><div id="root"></div><script src=/a.js></script>',
    "empty main": "<title>A</title><header><a href=/>Home</a><a href=/b>B</a><a href=/c>C</a><a href=/d>D</a></header><main></main><footer>© Harbour Works</footer><script src=/a.js></script>",
    "data attribute": '<title>A</title><div id="page" data-src="/api/1"></div><script src=/a.js></script>',
    "loading words ru": '<title>A</title><div class="loader-wrapper">Загрузка…</div><script src=/a.js></script>',
    "spinner svg": '<title>A</title><div id="root"><svg viewBox="0 0 1 1"><text>Loading</text></svg></div><script src=/a.js></script>',
    "logo in shell": '<title>A</title><header><a href=/><img src=logo.png alt="Harbour"></a><a href=/a>Shop</a></header><div id="app"></div><script src=/a.js></script>',
    "capital tags": '<HTML><TITLE>A</TITLE><BODY><DIV ID="ROOT"></DIV><SCRIPT SRC=A.JS></SCRIPT></BODY></HTML>',
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
    "autoindex": '<html><head><title>Index of /x/</title></head><body><h1>Index of /x/</h1><hr><pre><a href="../">../</a></pre><hr></body></html>',
    "rustdoc": '<!DOCTYPE html><html lang="en"><head><title>x - Rust</title><script defer src="../static.files/main.js"></script><noscript><link rel="stylesheet" href="../static.files/noscript.css"></noscript></head><body class="rustdoc mod"><nav class="sidebar"><h2><a href="#">Module x</a></h2></nav><main><div class="width-limiter"><rustdoc-search></rustdoc-search><section id="main-content" class="content"><div class="main-heading"><h1>Module <span>x</span></h1><rustdoc-toolbar></rustdoc-toolbar></div><h2 id="structs">Structs</h2><dl><dt><a href="s.html">S</a></dt></dl></section></div></main></body></html>',
    "rustdoc redirect": '<html><head><meta http-equiv="refresh" content="0;URL=../a/struct.B.html"><title>Redirection</title></head><body><p>Redirecting to <a href="../a/struct.B.html">../a/struct.B.html</a>...</p><script>location.replace("../a/struct.B.html" + location.search + location.hash);</script></body></html>',
    "doxygen": '<html><head><title>L: File</title><script src="jquery.js"></script><script src="dynsections.js"></script></head><body><div id="top"><div id="titlearea"><table><tr><td id="projectalign"><div id="projectname">L</div></td></tr></table></div><div id="main-nav"></div><div id="nav-path" class="navpath"></div></div><div class="header"><div class="headertitle"><div class="title">src Directory Reference</div></div></div><div class="contents"></div><hr class="footer"/><address class="footer"><small>Generated by doxygen</small></address></body></html>',
    "wp nothing": '<html><head><title>Tag</title><script src=wp.js></script></head><body><header><a href=/>Blog</a><ul><li><a href=/a>A</a><li><a href=/b>B</a></ul></header><div id="page-loader" class="loader"></div><main><h1>Nothing Found</h1><p>It seems we can’t find what you’re looking for.</p></main></body></html>',
    "mw stub": '<html class="client-nojs"><head><title>X - Wiki</title><script>document.documentElement.className="client-js"</script></head><body><div id="mw-page-base"></div><div id="mw-head-base"></div><div id="content"><div id="siteNotice"></div><h1 id="firstHeading">X</h1><div id="contentSub"></div><p>X is a letter.</p></div></body></html>',
    "phpbb": '<html><head><title>Information</title></head><body id="phpbb"><div id="wrap"><a id="top"></a><div id="page-header"><a href=index.php>Board</a><a href=faq.php>FAQ</a></div><div class="panel" id="message"><h2>Information</h2><p>The requested topic does not exist.</p></div></div><div id="darkenwrapper"><div id="darken">&nbsp;</div></div><script src=a.js></script></body></html>',
    "it works": "<html><body><h1>It works!</h1></body></html>",
    "image page": "<html><head><title>Photo 3</title><script src=v.js></script></head><body><a href=p2.html>prev</a> <a href=p4.html>next</a><br><img src=3.jpg></body></html>",
    "map page": '<html><head><title>Map</title><script src=leaflet.js></script></head><body><h1>Where we are</h1><div id="map"></div><p>Quay 3, second floor</p></body></html>',
    "countdown": '<html><head><title>Soon</title><script src=c.js></script></head><body><h1>We open on 3 May</h1><div id="countdown"></div></body></html>',
    "preloader theme": '<html><head><title>Impressum</title><script src=t.js></script></head><body><div class="preloader"><div class="spinner"></div></div><nav><a href=/>Start</a><a href=/a>Angebot</a><a href=/k>Kontakt</a><a href=/i>Impressum</a></nav><h1>Impressum</h1><p>Hafen GmbH, Kai 3, 20457 Hamburg</p></body></html>',
    "video": "<html><head><title>Launch</title><script src=p.js></script></head><body><video src=l.mp4 controls></video></body></html>",
    "audio list": "<html><head><title>Songs</title><script src=p.js></script></head><body><audio src=1.mp3></audio><audio src=2.mp3></audio></body></html>",
    "short note": '<html><head><title>Note</title><script src=p.js></script></head><body><div id="cookie-banner"></div><p>Closed on Monday.</p></body></html>',
    "short in root": "<div id=root><h1>Closed</h1><p>We are closed today, sorry.</p></div><script src=/a.js></script>",
    "page about templates": "<h1>Templates</h1><p>Write {{ name }} where the name goes.</p><script src=/a.js></script>",
    "javascript note": "<h1>Note</h1><p>This site works without JavaScript.</p><script src=/a.js></script>",
    "links only": "<title>L</title><a href=/0>Link 0</a> <a href=/1>Link 1</a> <a href=/2>Link 2</a> <a href=/3>Link 3</a> <a href=/4>Link 4</a> <a href=/5>Link 5</a> <a href=/6>Link 6</a> <a href=/7>Link 7</a> <a href=/8>Link 8</a> <div id=menu></div><script src=/a.js></script>",
    "form in root": "<div id=app><form><input name=q><select><option>a</select></form></div><script src=/a.js></script>",
    "picture in root": "<div id=app><img src=plan.png></div><script src=/a.js></script>",
    "text beside app": "<div id=app></div><h1>Tides</h1><p>High water at Dover is at six in the morning and again at half past six in the evening. High water at Dover is at six in the morning and again at half past six in the evening. High water at Dover is at six in the morning and again at half past six in the evening. </p><script src=/a.js></script>",
    "thanks": "<div class=box><p>Thank you, your message has been sent.</p><a href=/>Back</a></div><script src=/a.js></script>",
    "soft 404": "<header><a href=/>Home</a><a href=/b>B</a><a href=/c>C</a><a href=/d>D</a></header><main><h1>404</h1><p>Nothing here</p></main><script src=/a.js></script>",
    "search page of sphinx": '<title>Search</title><div class=document><h1>Search</h1><noscript><p>Please activate JavaScript to enable the search functionality.</p></noscript><p>From here you can search these documents.</p><form><input name=q></form><div id="search-results"></div></div><script src=/a.js></script>',
}
"""Not hollow, though short."""
