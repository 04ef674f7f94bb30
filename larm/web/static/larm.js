"use strict";
// Everything works without this file. With it "/" goes to the field, and figures of a crawl change by themselves.
document.addEventListener("keydown", (event) => {
  const field = document.getElementById("q");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || !field) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  event.preventDefault();
  field.focus();
  field.select();
});

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
