"use strict";
// Everything works without this file. With it "/" goes to the field, which suggests words, and figures of a crawl change by
// themselves.
document.addEventListener("keydown", (event) => {
  const field = document.getElementById("q");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || !field) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  event.preventDefault();
  field.focus();
  field.select();
});

const typed = document.getElementById("q");
const suggestions = document.getElementById("suggestions");
if (typed && suggestions) {
  let timer = 0;
  let asking = new AbortController();
  typed.setAttribute("list", "suggestions");
  typed.addEventListener("input", () => {
    clearTimeout(timer);
    asking.abort();
    timer = setTimeout(async () => {
      asking = new AbortController();
      try {
        const asked = new URLSearchParams(new FormData(typed.form));
        const answer = await fetch(`/suggest?${asked}`, { signal: asking.signal });
        const [, found] = answer.ok ? await answer.json() : ["", []];
        suggestions.replaceChildren(...found.map((words) => Object.assign(document.createElement("option"), { value: words })));
      } catch (error) {
        if (error.name !== "AbortError") suggestions.replaceChildren();
      }
    }, 120);
  });
}

const gathering = document.querySelector("[data-more]");
if (gathering) {
  const source = new EventSource(gathering.dataset.more);
  const rows = document.querySelector("ol.results");
  // made by our own templates, in which everything is escaped; what was shown stays where it is
  source.addEventListener("rows", (event) => rows.insertAdjacentHTML("beforeend", event.data));
  source.addEventListener("about", (event) => {
    const about = document.createElement("div");
    about.innerHTML = event.data;
    gathering.querySelector("p")?.replaceWith(about.querySelector("p")); // the numbers; sentences come below the rows
    document.getElementById("later")?.replaceChildren(...about.children);
  });
  // nothing moves beneath a reader's finger: this line is there from the beginning, and only its text changes
  const waiting = document.getElementById("waiting");
  source.addEventListener("order", (event) => {
    const order = JSON.parse(event.data);
    const better = order.filter((at, place) => at > place).length;
    if (!better) return;
    const button = Object.assign(document.createElement("button"), { className: "plain", textContent: "Sort all by rank" });
    button.addEventListener("click", () => {
      const items = [...rows.children];
      rows.append(...order.map((at) => items[at]));
      waiting.textContent = "Sorted by rank.";
    });
    waiting.replaceChildren(`${better} of these came late and belong further up. `, button);
  });
  const end = () => {
    source.close();
    if (!waiting.querySelector("button")) waiting.textContent = "Nothing more will come.";
  };
  source.addEventListener("end", end);
  source.addEventListener("error", end);
  window.addEventListener("pagehide", () => source.close());
}

const live = document.querySelector("[data-events]");
if (live) {
  const source = new EventSource(live.dataset.events);
  source.addEventListener("figures", (event) => {
    const open = live.querySelector("details")?.open;
    live.innerHTML = event.data; // made by our own templates, in which everything is escaped
    const details = live.querySelector("details");
    if (details && open) details.open = true;
  });
  window.addEventListener("pagehide", () => source.close());
}
