// Keys: "/" to the filter, "g" and a letter to a page, "j" and "k" through a list, "?" for all of them.
const rows = () => [...document.querySelectorAll("tr[data-row]")];
const isWriting = (element) => element.matches("input, textarea, select, [contenteditable]") || element.closest("dialog[open]");

let place = -1;
const here = () => { const at = rows().findIndex((row) => row.hasAttribute("data-at")); return at < 0 ? place : at; };
let awaited = 0;

const stepTo = (index) => {
  const all = rows();
  if (!all.length) return;
  all.forEach((row) => row.removeAttribute("data-at"));
  place = Math.max(0, Math.min(all.length - 1, index));
  all[place].setAttribute("data-at", "");
  const link = all[place].querySelector("a");
  if (link) link.focus({ preventScroll: true });
  all[place].scrollIntoView({ block: "nearest" });
};

const press = (key) => {
  const target = document.querySelector(`[data-key="${key}"]`);
  if (!target) return false;
  const reason = target.form?.querySelector("input[name=reason]");
  (reason ?? target).focus();
  return true;
};

const go = (key) => {
  const link = document.querySelector(`[data-go="${CSS.escape(key)}"]`);
  if (link) link.click();
};

const KEYS = {
  "/": () => { const bar = document.querySelector("[data-filter]"); bar?.focus(); bar?.select(); return Boolean(bar); },
  "?": () => { document.getElementById("keys")?.showModal(); return true; },
  g: () => { awaited = Date.now(); return true; },
  j: () => { stepTo(here() + 1); return true; },
  k: () => { stepTo(here() - 1); return true; },
  x: () => {
    const box = rows()[here()]?.querySelector("input[type=checkbox]");
    box?.click();
    return Boolean(box);
  },
  r: () => press("r"),
  c: () => press("c"),
};

export const startKeys = () => {
  const help = document.getElementById("help");
  if (help) {
    help.hidden = false;
    help.addEventListener("click", () => document.getElementById("keys").showModal());
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
    if (Date.now() - awaited < 1500 && awaited) {
      awaited = 0;
      go(event.key);
      event.preventDefault();
      return;
    }
    if (KEYS[event.key]?.()) event.preventDefault();
  });
};
