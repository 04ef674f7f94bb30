"""The figures of all agents in a sentence, for ``larm cluster status`` and ``larm stats``. Pure."""

from larm.engine.figures.snapshot import ClusterFigures


def cluster_line(now: ClusterFigures) -> str:
    """Pages, what is left, and the measures of crawls by several (UBI-22)."""
    heard = "" if now.working == now.agents else f" ({now.working:,} of them heard)"
    paused = f", {now.paused:,} paused" if now.paused else ""
    recovered = f", {now.recovered:,} pages not fetched again" if now.recovered else ""
    return (
        f"{now.agents:,} agents{heard}{paused}: {now.pages:,} pages, {now.waiting:,} URLs to go; coverage {now.coverage:.1%}, "
        f"overlap {now.overlap:.2%}, {now.sent_per_page:.2f} URLs sent for each page{recovered}"
    )
