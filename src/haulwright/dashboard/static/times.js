// Times stay true while a page is open: "3 min ago" becomes "4 min ago".
const UNITS = [["day", 86400], ["h", 3600], ["min", 60], ["s", 1]];
const EVERY_MS = 10000;

const spell = (seconds) => {
  for (let i = 0; i < UNITS.length; i += 1) {
    const [unit, size] = UNITS[i];
    if (seconds >= size) {
      const whole = Math.floor(seconds / size);
      const [small, grain] = UNITS[i + 1] ?? [null, 1];
      const rest = small ? Math.floor((seconds - whole * size) / grain) : 0;
      const word = (count, name) => `${count} ${name === "day" && count > 1 ? "days" : name}`;
      return word(whole, unit) + (rest ? ` ${word(rest, small)}` : "");
    }
  }
  return "0 s";
};

export const ago = (moment, now) => {
  const seconds = Math.floor((now - moment) / 1000);
  if (seconds === 0) return "now";
  return seconds > 0 ? `${spell(seconds)} ago` : `in ${spell(-seconds)}`;
};

// The server's clock counts: this machine's may be wrong by minutes.
const offset = () => {
  const written = Date.parse(document.querySelector("main")?.dataset.now ?? "");
  return Number.isNaN(written) ? 0 : written - Date.now();
};

export const startTimes = () => {
  const skew = offset();
  setInterval(() => {
    if (document.hidden) return;
    for (const time of document.querySelectorAll("time[datetime]")) {
      if (time.dataset.fixed === undefined) time.textContent = ago(Date.parse(time.dateTime), Date.now() + skew);
    }
  }, EVERY_MS);
};
