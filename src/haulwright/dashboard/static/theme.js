// Before the page is drawn: the theme that somebody chose here, else that of the system.
"use strict";
(() => {
  try {
    const chosen = localStorage.getItem("haulwright-theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch { /* storage may be closed; the system's theme holds then */ }
})();
