// One stream of events a tab. When something happens, the page is read anew from its own address and grown into the one
// that stands. A hidden tab and the button pause it; it waits while somebody points at a row or writes.
const AT_MOST_EVERY_MS = 2000;
const POLL_MS = 10000;
const PATIENCE_MS = 500;
const KEY = "haulwright-live";
const BUSY = "#main :is(a, button, summary, input, tbody tr):hover, #main form:focus-within, #main .long[open]:hover";

let stream = null;
let poll = null;
let pending = null;
let last = 0;

const refresh = () => {
  pending = null;
  if (document.querySelector(BUSY)) { pending = setTimeout(refresh, PATIENCE_MS); return; }
  last = Date.now();
  document.body.dispatchEvent(new CustomEvent("fresh"));
};

const note = () => {
  if (pending === null) pending = setTimeout(refresh, Math.max(PATIENCE_MS / 5, AT_MOST_EVERY_MS - (Date.now() - last)));
};

const isOn = () => {
  try { return sessionStorage.getItem(KEY) !== "off"; } catch { return true; }
};

const close = () => {
  stream?.close();
  stream = null;
  clearInterval(poll);
  clearTimeout(pending);
  pending = null;
};

const open = (source) => {
  if (stream || document.hidden || !isOn()) return;
  if (source === "poll") { poll = setInterval(note, POLL_MS); return; }
  stream = new EventSource(source);
  // What happened between the page and its stream is in neither: once it stands, the page is read again.
  stream.onopen = note;
  stream.onmessage = note;
  stream.addEventListener("end", () => { note(); stream?.close(); });
};

export const startLive = () => {
  const source = document.getElementById("main")?.dataset.live ?? "off";
  const button = document.getElementById("live");
  if (source === "off" || !button) return;
  button.hidden = false;
  const show = () => {
    button.setAttribute("aria-pressed", String(isOn()));
    button.textContent = isOn() ? "Live" : "Paused";
  };
  show();
  button.addEventListener("click", () => {
    try { sessionStorage.setItem(KEY, isOn() ? "off" : "on"); } catch { /* it cannot be kept, then it goes on */ }
    show();
    close();
    open(source);
  });
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open(source)));
  addEventListener("pagehide", close);
  open(source);
};
