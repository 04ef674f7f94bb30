"""Pages as generators of sites and their themes write them: all that surrounds an article, and its heading where each puts it.

Written after the markup of each theme, and shortened. ``{body}`` stands for the text of the article.
"""

from __future__ import annotations

TITLE = "Growing tomatoes on a balcony"
SITE = "Green Thumb"
_SENTENCE = (
    "The plants want sun, water and patience, in that order. Whoever gives them all three will eat from June to October."
)
BODY = "".join(f"<p>{_SENTENCE} This is paragraph {number}.</p>" for number in range(6))

LAYOUTS = {
    "wordpress twenty ten": (
        '<title>{title} | {site}</title><div id="wrapper" class="hfeed"><div id="header"><div id="masthead"><div '
        'id="branding" role="banner"><div id="site-title"><span><a href="/" rel="home">{site}</a></span></div></div><div '
        'id="access" role="navigation"><ul><li><a href="/about">About</a></ul></div></div></div><div id="main"><div '
        'id="container"><div id="content" role="main"><div id="post-1" class="post-1 post type-post hentry"><h1 '
        'class="entry-title">{title}</h1><div class="entry-meta">Posted on <a href="/1">May 1</a></div><div '
        'class="entry-content">{body}</div></div></div></div><div id="primary" class="widget-area" role="complementary"><ul '
        'class="xoxo"><li id="search" class="widget-container widget_search"><form role="search"><input></form></li></ul>'
        "</div></div></div>"
    ),
    "wordpress twenty twelve": (
        '<title>{title} | {site}</title><div id="page" class="hfeed site"><header id="masthead" class="site-header"><hgroup>'
        '<h1 class="site-title"><a href="/" rel="home">{site}</a></h1><h2 class="site-description">Plants and people</h2>'
        '</hgroup><nav id="site-navigation" class="main-navigation"><ul class="nav-menu"><li><a href="/a">About</a></ul>'
        '</nav></header><div id="main" class="wrapper"><div id="primary" class="site-content"><div id="content" role="main">'
        '<article id="post-1" class="post-1 post hentry"><header class="entry-header"><h1 class="entry-title">{title}</h1>'
        '</header><div class="entry-content">{body}</div><footer class="entry-meta">This entry was posted in <a '
        'href="/c">Plants</a></footer></article><div id="comments" class="comments-area"><h2 class="comments-title">One '
        'thought</h2><ol class="commentlist"><li class="comment"><article><header class="comment-meta">Ann</header><section '
        'class="comment-content"><p>Very nice.</p></section></article></li></ol></div></div></div></div></div>'
    ),
    "wordpress twenty seventeen": (
        '<title>{title} &#8211; {site}</title><div id="page" class="site"><header id="masthead" class="site-header"><div '
        'class="site-branding"><p class="site-title"><a href="/">{site}</a></p></div></header><div '
        'class="site-content-contain"><div id="content" class="site-content"><div class="wrap"><div id="primary" '
        'class="content-area"><main id="main" class="site-main"><article id="post-1" class="post-1 post type-post"><header '
        'class="entry-header"><div class="entry-meta">May 1</div><h1 class="entry-title">{title}</h1></header><div '
        'class="entry-content">{body}</div></article></main></div><aside id="secondary" class="widget-area"><section '
        'class="widget"><h2>Recent Posts</h2></section></aside></div></div></div></div>'
    ),
    "wordpress twenty twenty": (
        '<title>{title} – {site}</title><header id="site-header" class="header-footer-group"><div class="site-title"><a '
        'href="/">{site}</a></div></header><main id="site-content"><article class="post-1 post hentry" id="post-1"><header '
        'class="entry-header has-text-align-center header-footer-group"><div class="entry-header-inner section-inner medium">'
        '<h1 class="entry-title">{title}</h1></div></header><div class="post-inner thin"><div '
        'class="entry-content">{body}</div></div></article></main><footer id="site-footer" class="header-footer-group"><p>© '
        "2026 {site}</p></footer>"
    ),
    "wordpress block theme": (
        '<title>{title} – {site}</title><div class="wp-site-blocks"><header class="wp-block-template-part"><p '
        'class="wp-block-site-title"><a href="/">{site}</a></p></header><main class="wp-block-group is-layout-flow"><div '
        'class="wp-block-group alignfull"><h1 class="wp-block-post-title">{title}</h1></div><div class="entry-content '
        'wp-block-post-content">{body}</div></main><footer class="wp-block-template-part"><p>Designed with WordPress</p>'
        "</footer></div>"
    ),
    "hugo ananke": (
        '<title>{title} | {site}</title><header><div class="bg-black"><nav class="pv3 ph3" role="navigation"><a '
        'href="/">{site}</a></nav></div></header><main class="pb7" role="main"><article class="flex-l flex-wrap"><header '
        'class="mt4 w-100"><aside class="instapaper_ignoref b helvetica tracked">POSTS</aside><h1 class="f1 athelas mt3 '
        'mb1">{title}</h1><time>May 1</time></header><div class="nested-copy-line-height lh-copy">{body}</div><aside '
        'class="w-30-l mt6-l"></aside></article></main><footer class="bg-black"><a href="/">© {site}</a></footer>'
    ),
    "hugo papermod": (
        '<title>{title} | {site}</title><header class="header"><nav class="nav"><div class="logo"><a href="/">{site}</a>'
        '</div><ul id="menu"><li><a href="/archives">Archive</a></ul></nav></header><main class="main"><article '
        'class="post-single"><header class="post-header"><div class="breadcrumbs"><a href="/">Home</a></div><h1 '
        'class="post-title">{title}</h1><div class="post-meta">May 1</div></header><div class="post-content">{body}</div>'
        '<footer class="post-footer"><ul class="post-tags"><li><a href="/t">plants</a></ul></footer></article></main>'
    ),
    "hugo without main": (
        "<title>{site} | {title}</title><header><h1>{title}</h1></header><nav><a href=/>Home</a></nav>{body}<footer>©</footer>"
    ),
    "ghost casper": (
        '<title>{title}</title><div class="gh-viewport"><header id="gh-head" class="gh-head outer"><div class="gh-head-inner '
        'inner"><a class="gh-head-logo no-image" href="/">{site}</a><nav class="gh-head-menu"><ul class="nav"><li><a '
        'href="/a">About</a></ul></nav></div></header><div class="site-content"><main id="site-main" class="site-main">'
        '<article class="article post tag-x"><header class="article-header gh-canvas"><div class="article-tag '
        'post-card-tags"><a href="/t">Plants</a></div><h1 class="article-title">{title}</h1><p class="article-excerpt">What '
        'grows in a pot.</p></header><section class="gh-content gh-canvas">{body}</section></article></main><section '
        'class="footer-cta outer"><h2>Sign up for more</h2></section></div><footer class="site-footer outer">{site} © '
        "2026</footer></div>"
    ),
    "jekyll minima": (
        '<title>{title} | {site}</title><header class="site-header"><div class="wrapper"><a class="site-title" '
        'href="/">{site}</a><nav class="site-nav"><a class="page-link" href="/a">About</a></nav></div></header><main '
        'class="page-content"><div class="wrapper"><article class="post h-entry" itemscope '
        'itemtype="http://schema.org/BlogPosting"><header class="post-header"><h1 class="post-title p-name" itemprop="name '
        'headline">{title}</h1><p class="post-meta">May 1</p></header><div class="post-content e-content" '
        'itemprop="articleBody">{body}</div></article></div></main><footer class="site-footer h-card"><p>{site}</p></footer>'
    ),
    "beautiful jekyll": (
        '<title>{title} | {site}</title><nav class="navbar navbar-expand-xl"><a class="navbar-brand" href="/">{site}</a>'
        '</nav><header class="header-section"><div class="intro-header no-img"><div class="container-md"><div '
        'class="post-heading"><h1>{title}</h1><span class="post-meta">Posted on May 1</span></div></div></div></header><main '
        'class="container-md"><div class="row"><article role="main" class="blog-post">{body}</article></div></main><footer>'
        "<p>Powered by Beautiful Jekyll</p></footer>"
    ),
    "clean blog": (
        '<title>{site} - {title}</title><nav class="navbar" id="mainNav"><a class="navbar-brand" href="/">{site}</a></nav>'
        '<header class="masthead" style="background-image: url(x.jpg)"><div class="container"><div class="post-heading">'
        '<h1>{title}</h1><h2 class="subheading">In pots and boxes</h2></div></div></header><article class="mb-4"><div '
        'class="container">{body}</div></article>'
    ),
    "sphinx alabaster": (
        '<title>{title} &#8212; {site} 1.0 documentation</title><div class="document"><div class="documentwrapper"><div '
        'class="bodywrapper"><div class="body" role="main"><section id="growing-tomatoes"><h1>{title}<a class="headerlink" '
        'href="#growing-tomatoes" title="Link">¶</a></h1>{body}</section></div></div></div><div class="sphinxsidebar" '
        'role="navigation"><div class="sphinxsidebarwrapper"><h1 class="logo"><a href="index.html">{site}</a></h1><ul><li><a '
        'href="x.html">Other plants</a></ul></div></div></div>'
    ),
    "sphinx read the docs": (
        '<title>{title} — {site} documentation</title><div class="wy-grid-for-nav"><nav class="wy-nav-side"><div '
        'class="wy-side-scroll"><div class="wy-side-nav-search"><a href="index.html">{site}</a></div></div></nav><section '
        'class="wy-nav-content-wrap"><div class="wy-nav-content"><div class="rst-content"><div role="navigation"><ul '
        'class="wy-breadcrumbs"><li><a href="/">Docs</a></ul></div><div role="main" class="document" itemscope><div '
        'itemprop="articleBody"><div class="section" id="meta"><h1>{title}<a class="headerlink" href="#meta">¶</a>'
        "</h1>{body}</div></div></div><footer>© 2026</footer></div></div></section></div>"
    ),
    "sphinx furo": (
        '<title>{title} - {site}</title><div class="page"><header class="mobile-header"><div class="header-center"><a '
        'href="index.html"><div class="brand">{site}</div></a></div></header><aside class="sidebar-drawer"><div '
        'class="sidebar-container"><a class="sidebar-brand" href="/">{site}</a></div></aside><div class="main"><div '
        'class="content"><div class="article-container"><article role="main" id="furo-main-content"><section id="tomatoes">'
        '<h1>{title}<a class="headerlink" href="#tomatoes">#</a></h1>{body}</section></article></div><footer><div '
        'class="related-pages"><a class="next-page" href="n.html">Next</a></div></footer></div></div></div>'
    ),
    "mkdocs material": (
        '<title>{title} - {site}</title><header class="md-header"><nav class="md-header__inner"><a class="md-header__button '
        'md-logo" href="/">{site}</a><div class="md-header__topic">{title}</div></nav></header><div class="md-container">'
        '<main class="md-main"><div class="md-main__inner md-grid"><div class="md-sidebar md-sidebar--primary"><nav '
        'class="md-nav"><ul><li><a href="/x">Other</a></ul></nav></div><div class="md-content"><article '
        'class="md-content__inner md-typeset"><h1 id="tomatoes">{title}<a class="headerlink" href="#tomatoes">&para;</a>'
        '</h1>{body}</article></div></div></main><footer class="md-footer">Made with Material</footer></div>'
    ),
    "docusaurus": (
        '<title>{title} | {site}</title><nav class="navbar"><a class="navbar__brand" href="/"><b '
        'class="navbar__title">{site}</b></a></nav><div class="main-wrapper"><main class="docMainContainer"><div '
        'class="container"><div class="row"><div class="col docItemCol"><article><nav class="theme-doc-breadcrumbs"><ul '
        'class="breadcrumbs"><li>{title}</ul></nav><div class="theme-doc-markdown markdown"><header><h1>{title}</h1>'
        '</header>{body}</div><footer class="theme-doc-footer">Edit this page</footer></article></div></div></div></main>'
        "</div>"
    ),
    "mediawiki vector": (
        '<title>{title} - {site}</title><div id="mw-page-base" class="noprint"></div><div id="content" class="mw-body" '
        'role="main"><a id="top"></a><h1 id="firstHeading" class="firstHeading">{title}</h1><div id="bodyContent" '
        'class="mw-body-content"><div id="siteSub">From {site}</div><div id="mw-content-text" class="mw-content-ltr"><div '
        'class="mw-parser-output">{body}</div></div></div></div><div id="mw-navigation"><h2>Navigation menu</h2><div '
        'id="p-logo" role="banner"></div></div><div id="footer" role="contentinfo"><ul id="footer-info"><li>This page was '
        "edited.</ul></div>"
    ),
    "mediawiki vector 2022": (
        '<title>{title} - {site}</title><div class="mw-page-container"><div class="vector-header-container"><header '
        'class="vector-header mw-header"><a href="/" class="mw-logo">{site}</a></header></div><div '
        'class="mw-content-container"><main id="content" class="mw-body"><header class="mw-body-header vector-page-titlebar">'
        '<nav class="vector-toc-landmark"></nav><h1 id="firstHeading" class="firstHeading mw-first-heading"><span '
        'class="mw-page-title-main">{title}</span></h1></header><div id="bodyContent" class="vector-body"><div '
        'id="mw-content-text">{body}</div></div></main></div></div>'
    ),
    "dokuwiki": (
        '<title>start [{site}]</title><div id="dokuwiki__site"><div id="dokuwiki__top" class="site dokuwiki hasSidebar"><div '
        'id="dokuwiki__header"><div class="pad group"><div class="headings group"><h1 class="logo"><a href="/">{site}</a>'
        '</h1></div></div></div><div class="wrapper group"><div id="dokuwiki__aside"><div class="pad aside"><a '
        'href="/p">Plants</a></div></div><div id="dokuwiki__content"><div class="pad group"><div class="pageId">'
        '<span>start</span></div><div class="page group"><h1 class="sectionedit1" id="growing_tomatoes">{title}</h1><div '
        'class="level1">{body}</div></div><div class="docInfo">start.txt</div></div></div></div></div></div>'
    ),
    "drupal olivero": (
        '<title>{title} | {site}</title><div id="page" class="page"><header id="header" class="site-header"><div '
        'class="site-branding"><a href="/">{site}</a></div></header><div id="main-wrapper" class="layout-main-wrapper"><main '
        'role="main" class="site-main"><div class="main-content"><div class="region region--highlighted"></div><div '
        'id="block-title" class="block"><h1 class="title page-title"><span class="field--name-title">{title}</span></h1>'
        '</div><article class="node node--type-article"><div class="node__content"><div class="text-content field '
        'field--name-body">{body}</div></div></article></div></main></div></div>'
    ),
    "drupal bartik": (
        '<title>{title} | {site}</title><div id="page-wrapper"><div id="page"><header id="header" class="header" '
        'role="banner"><div class="site-branding__name"><a href="/">{site}</a></div></header><div id="main-wrapper" '
        'class="layout-main-wrapper"><div id="main" class="layout-main"><main id="content" class="column main-content" '
        'role="main"><section class="section"><h1 class="title page-title">{title}</h1><div '
        'class="node__content">{body}</div></section></main><div id="sidebar-first" class="column sidebar"><aside '
        'class="section" role="complementary">Search</aside></div></div></div></div></div>'
    ),
    "django admin docs": (
        '<title>{title}</title><div id="container"><div id="header"><div id="branding"><h1 id="site-name"><a '
        'href="/admin/">{site}</a></h1></div><div id="user-tools">Welcome</div></div><div class="breadcrumbs"><a '
        'href="/">Home</a> › {title}</div><div id="content" class="colM"><h1>{title}</h1><div id="content-main">{body}</div>'
        '</div><div id="footer"></div></div>'
    ),
    "asciidoctor": (
        '<title>{title}</title><body class="article"><div id="header"><h1>{title}</h1><div class="details"><span id="author" '
        'class="author">Ann</span></div></div><div id="content"><div class="sect1"><h2 id="_pots">Pots</h2><div '
        'class="sectionbody">{body}</div></div></div><div id="footer"><div id="footer-text">Last updated 2026</div></div>'
    ),
    "pandoc": '<title>{title}</title><header id="title-block-header"><h1 class="title">{title}</h1></header>{body}',
    "javadoc": (
        '<title>{title} ({site})</title><div class="flex-box"><header role="banner" class="flex-header"><nav '
        'role="navigation"><div class="top-nav" id="navbar-top"><ul id="navbar-top-firstrow" class="nav-list"><li><a '
        'href="/">Overview</a></ul></div></nav></header><div class="flex-content"><main role="main"><div class="header"><div '
        'class="sub-title"><span>Package</span> a.b</div><h1 title="x" class="title">{title}</h1></div><section '
        'class="class-description">{body}</section></main><footer role="contentinfo"><hr>©</footer></div></div>'
    ),
    "discourse for crawlers": (
        '<title>{title} - Plants - {site}</title><header><a href="/">{site}</a></header><div id="main-outlet" class="wrap" '
        'role="main"><div id="topic-title"><h1><a href="/t/growing/1">{title}</a></h1><div class="topic-category"><a '
        'href="/c/p">Plants</a></div></div><div itemscope itemtype="http://schema.org/DiscussionForumPosting"><div '
        'class="topic-body crawler-post"><div class="crawler-post-meta"><span class="creator" itemprop="author"><a '
        'href="/u/ann">ann</a></span></div><div class="post" itemprop="text">{body}</div></div></div></div>'
    ),
    "xenforo": (
        '<title>{title} | {site}</title><div class="p-pageWrapper"><header class="p-header"><div class="p-header-logo"><a '
        'href="/">{site}</a></div></header><div class="p-body"><div class="p-body-header"><div class="p-title"><h1 '
        'class="p-title-value">{title}</h1></div></div><div class="p-body-main"><div class="p-body-content"><article '
        'class="message message--post"><div class="message-inner"><div class="message-main"><article class="message-body">'
        '<div class="bbWrapper">{body}</div></article></div></div></article></div></div></div></div>'
    ),
    "shopify dawn": (
        '<title>{title} &ndash; {site}</title><div class="shopify-section-group-header-group"><header class="header"><a '
        'href="/" class="header__heading-link"><span class="h2">{site}</span></a></header></div><main id="MainContent" '
        'class="content-for-layout focus-none" role="main"><article class="article-template"><header '
        'class="article-template__title-wrapper"><h1 class="article-template__title" itemprop="headline">{title}</h1><span '
        'class="circle-divider">May 1</span></header><div class="article-template__content rte" '
        'itemprop="articleBody">{body}</div></article></main>'
    ),
    "github pages cayman": (
        '<title>{title} | {site}</title><header class="page-header" role="banner"><h1 class="project-name">{title}</h1><h2 '
        'class="project-tagline">In pots</h2><a href="/x" class="btn">View</a></header><main id="content" '
        'class="main-content" role="main">{body}<footer class="site-footer">Maintained by ann</footer></main>'
    ),
    "blogger": (
        '<title>{site}: {title}</title><div class="content"><header><div class="header-inner"><div class="titlewrapper"><h1 '
        'class="title"><a href="/">{site}</a></h1></div></div></header><div class="main-outer"><div class="post hentry" '
        'itemprop="blogPost"><h1 class="post-title entry-title" itemprop="name">{title}</h1><div class="post-body '
        'entry-content" itemprop="description articleBody">{body}</div></div><div class="blog-pager">Newer</div></div></div>'
    ),
    "phpbb prosilver": (
        '<title>{title} - {site}</title><div id="wrap" class="wrap"><div id="page-header"><div class="headerbar" '
        'role="banner"><div class="inner"><div id="site-description" class="site-description"><a id="logo" class="logo" '
        'href="./index.php"></a><h1>{site}</h1><p>A board about plants</p></div></div></div></div><div id="page-body" '
        'class="page-body" role="main"><h2 class="topic-title"><a href="./viewtopic.php?t=1">{title}</a></h2><div id="p1" '
        'class="post has-profile bg2"><div class="inner"><dl class="postprofile"><dt><a href="./ann">ann</a></dt></dl><div '
        'class="postbody"><div class="content">{body}</div></div></div></div></div></div>'
    ),
    "bootstrap jumbotron": (
        '<title>{title}</title><nav class="navbar"><a href="/">{site}</a></nav><div class="jumbotron hero"><div '
        'class="container"><h1 class="display-3">{title}</h1></div></div><div class="container">{body}</div><div '
        'class="footer">©</div>'
    ),
}


def layout(name: str) -> str:
    """One page."""
    return "<!DOCTYPE html>" + LAYOUTS[name].format(title=TITLE, site=SITE, body=BODY)
