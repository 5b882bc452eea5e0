// One stream of events a tab. When something happens, the blocks of the page are read anew from the page's own address.
// A hidden tab and the button pause it; what somebody is writing in, or has opened, stays as it is.
const AT_MOST_EVERY_MS = 2000;
const KEY = "haulwright-live";

let stream = null;
let pending = null;
let last = 0;

const refresh = () => {
  pending = null;
  last = Date.now();
  document.body.dispatchEvent(new CustomEvent("fresh"));
};

const note = () => {
  if (pending !== null) return;
  pending = setTimeout(refresh, Math.max(100, AT_MOST_EVERY_MS - (Date.now() - last)));
};

const isOn = () => {
  try { return sessionStorage.getItem(KEY) !== "off"; } catch { return true; }
};

const close = () => {
  stream?.close();
  stream = null;
  clearTimeout(pending);
  pending = null;
};

const open = (url) => {
  if (stream || document.hidden || !isOn()) return;
  stream = new EventSource(url);
  const first = Date.now();
  stream.onmessage = () => { if (Date.now() - first > 500) note(); };
  stream.addEventListener("end", () => { note(); stream?.close(); });
};

export const startLive = () => {
  const url = document.getElementById("main")?.dataset.stream;
  const button = document.getElementById("live");
  if (!url || !button) return;
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
    if (isOn()) { refresh(); open(url); }
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { close(); } else if (isOn()) { refresh(); open(url); }
  });
  addEventListener("pagehide", close);
  open(url);
};
