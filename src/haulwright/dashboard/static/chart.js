// Charts of the figures that a page has in a table as well: `<figure data-chart>` with its data as JSON.
// {"unit": "EUR", "days": [seconds], "series": [{"label": "sold", "shape": "dot" | "ring" | "square" | "line", "values": [number | null]}]}
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

const serie = ({ label, shape }, index) => {
  const stroke = colour(shape === "line" ? "--faint" : COLOURS[index % COLOURS.length]);
  if (shape === "line") {
    return { label, stroke, width: label === "worth" ? 2 : 1, dash: label === "worth" ? [] : [6, 4], points: { show: false }, spanGaps: true };
  }
  return { label, stroke, paths: dots(shape, stroke), points: { show: false } };
};

const draw = (figure, data) => {
  const axis = { stroke: colour("--text"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
  const options = {
    width: figure.clientWidth, height: HEIGHT, tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    series: [{ label: "day", value: "{YYYY}-{MM}-{DD}" }, ...data.series.map(serie)],
    axes: [{ ...axis }, { ...axis, size: 70, label: data.unit }],
    scales: { y: { range: (_, low, high) => uPlot.rangeNum(low, high, 0.1, true) } },
  };
  return new uPlot(options, [data.days, ...data.series.map((each) => each.values)], figure);
};

const start = (figure) => {
  const data = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
  figure.hidden = false;
  let plot = draw(figure, data);
  const again = () => { plot.destroy(); plot = draw(figure, data); };
  new ResizeObserver(() => { if (plot.width !== figure.clientWidth) plot.setSize({ width: figure.clientWidth, height: HEIGHT }); }).observe(figure);
  new MutationObserver(again).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
};

document.querySelectorAll("figure[data-chart]").forEach(start);
