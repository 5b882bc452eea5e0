// The switch between the system's theme, light and dark.
const ORDER = ["system", "light", "dark"];
const KEY = "haulwright-theme";

const read = () => {
  try { return localStorage.getItem(KEY) ?? "system"; } catch { return "system"; }
};

const show = (button, theme) => {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  button.textContent = `Theme: ${theme}`;
};

export const startThemes = () => {
  const button = document.getElementById("theme");
  if (!button) return;
  button.hidden = false;
  show(button, read());
  button.addEventListener("click", () => {
    const next = ORDER[(ORDER.indexOf(read()) + 1) % ORDER.length];
    try { localStorage.setItem(KEY, next); } catch { /* it holds for this page then */ }
    show(button, next);
  });
};
