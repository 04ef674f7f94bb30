"use strict";
// Everything works without this file. With it "/" goes to the field.
document.addEventListener("keydown", (event) => {
  const field = document.getElementById("q");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || !field) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  event.preventDefault();
  field.focus();
  field.select();
});
