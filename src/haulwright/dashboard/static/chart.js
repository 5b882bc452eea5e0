// Charts of the figures that a page has in a table as well: `<figure data-chart="JSON" hx-morph-skip-children>`, with
// {"unit": "EUR", "days": [seconds], "series": [{"label": "sold", "shape": "dot" | "ring" | "square" | "level", "values": [number | null]}]}
const COLOURS = ["--busy", "--warn", "--good", "--bad"];
const HEIGHT = 280;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const outline = (shape, x, y, size) => {
  const path = new Path2D();
  if (shape === "square") path.rect(x - size / 2, y - size / 2, size, size);
  else path.arc(x, y, size / 2, 0, 2 * Math.PI);
  return path;
};

// Each kind of dots has a shape of its own, so that not the colour alone tells them apart.
const dots = (shape, stroke) => (plot, index) => {
  const size = 8 * devicePixelRatio;
  const context = plot.ctx;
  context.save();
  context.strokeStyle = stroke;
  context.fillStyle = stroke;
  context.lineWidth = 2 * devicePixelRatio;
  plot.data[index].forEach((value, at) => {
    if (value === null) return;
    const path = outline(shape, plot.valToPos(plot.data[0][at], "x", true), plot.valToPos(value, "y", true), size);
    if (shape === "ring") context.stroke(path);
    else context.fill(path);
  });
  context.restore();
  return null;
};

// A level is one amount over all days, however few these are.
const level = (label, stroke) => (plot, index) => {
  const amount = plot.data[index].find((value) => value !== null);
  if (amount === undefined) return null;
  const y = plot.valToPos(amount, "y", true);
  const context = plot.ctx;
  context.save();
  context.strokeStyle = stroke;
  context.lineWidth = (label === "worth" ? 2 : 1) * devicePixelRatio;
  context.setLineDash(label === "worth" ? [] : [6 * devicePixelRatio, 4 * devicePixelRatio]);
  context.beginPath();
  context.moveTo(plot.bbox.left, y);
  context.lineTo(plot.bbox.left + plot.bbox.width, y);
  context.stroke();
  context.restore();
  return null;
};

const serie = ({ label, shape }, index) => {
  const isLevel = shape === "level";
  const stroke = colour(isLevel ? "--faint" : COLOURS[index % COLOURS.length]);
  return { label, stroke, paths: isLevel ? level(label, stroke) : dots(shape, stroke), points: { show: false } };
};

const DAY = 86400;
const widened = (_, first, last) => {
  const room = Math.max(3 * DAY, (last - first) * 0.03);
  return [first - room, last + room];
};

const draw = (figure, data) => {
  const axis = { stroke: colour("--text"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
  const options = {
    width: figure.clientWidth, height: HEIGHT, tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    series: [{ label: "day", value: "{YYYY}-{MM}-{DD}" }, ...data.series.map(serie)],
    axes: [{ ...axis }, { ...axis, size: 70, label: data.unit }],
    scales: { x: { range: widened }, y: { range: (_, low, high) => uPlot.rangeNum(low, high, 0.1, true) } },
  };
  return new uPlot(options, [data.days, ...data.series.map((each) => each.values)], figure);
};

const start = (figure) => {
  const read = () => JSON.parse(figure.dataset.chart);
  figure.hidden = false;
  let plot = draw(figure, read());
  const again = () => { plot.destroy(); plot = draw(figure, read()); };
  new MutationObserver(again).observe(figure, { attributeFilter: ["data-chart"] }); // the page was read anew
  new ResizeObserver(() => { if (plot.width !== figure.clientWidth) plot.setSize({ width: figure.clientWidth, height: HEIGHT }); }).observe(figure);
  new MutationObserver(again).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
};

document.querySelectorAll("figure[data-chart]").forEach(start);
