// Raw and sent tokens of each request.
import { brief, change, clamp, el, niceTicks, svg, whole } from "./tools.js";

const HEIGHT = 240;

export function chart(onPick) {
  const drawing = el("div", { class: "chart" });
  const readout = el("p", { class: "readout" });
  const figure = el("figure", { class: "figure card" }, el("figcaption", {}, "Tokens of each request"), drawing, readout);
  let requests = [], fate = "", frame = null, X = null, Y = null, guide = null;

  function draw(news) {
    requests = news ?? requests;
    const width = drawing.clientWidth;
    if (!width || !requests.length) { drawing.replaceChildren(el("p", { class: "note" }, "No request is kept.")); return; }
    const observed = requests.at(-1).mode === "observe", seen = requests.filter((r) => r.mode === "observe").length;
    fate = !seen ? "was saved" : seen === requests.length ? "would have been saved" : "was saved, or would have been where it was only observed";
    const name = !observed ? "sent" : width < 480 ? "observed" : "would be sent";
    const first = requests[0].number, last = requests.at(-1).number;
    const high = Math.max(1, ...requests.map((r) => Math.max(r.raw, r.sent))) * 1.05;
    frame = { left: 46, right: width - (name.length > 8 ? 104 : name.length > 4 ? 74 : 44), top: 22, bottom: HEIGHT - 38 };
    X = (number) => frame.left + (last > first ? (number - first) / (last - first) : 0.5) * (frame.right - frame.left);
    Y = (value) => frame.bottom - (value / high) * (frame.bottom - frame.top);
    guide = svg("line", { class: "guide", y1: frame.top, y2: frame.bottom, visibility: "hidden" });
    const raw = line((r) => r.raw), sent = line((r) => r.sent);
    const back = [...requests].reverse().map((r) => `L${X(r.number).toFixed(1)} ${Y(r.sent).toFixed(1)}`).join("");
    drawing.replaceChildren(svg("svg", {
      height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img",
      "aria-label": `Tokens of each request; the last one had ${whole.format(requests.at(-1).raw)} raw and ${whole.format(requests.at(-1).sent)} sent. The table of requests has all figures.`,
      onpointermove: (event) => point(nearest(event)), onpointerleave: () => point(null), onclick: (event) => onPick(nearest(event)),
    }, svg("rect", { width, height: HEIGHT, fill: "transparent" }), axes(first, last, high),
      svg("path", { class: "saved-area", d: `${raw}${back}Z` }), svg("path", { class: "raw-line", d: raw }), svg("path", { class: "sent-line", d: sent }),
      requests.length === 1 ? [svg("circle", { class: "dot raw", cx: X(first), cy: Y(requests[0].raw), r: 4 }), svg("circle", { class: "dot", cx: X(first), cy: Y(requests[0].sent), r: 4 })] : null,
      ends(name), guide));
    point(null);
  }
  function line(pick) { return requests.map((r, place) => `${place ? "L" : "M"}${X(r.number).toFixed(1)} ${Y(pick(r)).toFixed(1)}`).join(""); }
  function axes(first, last, high) {
    const about = Math.min(last - first + 1, Math.max(2, (frame.right - frame.left) / 70));
    const ticks = niceTicks(first, last, about).filter(Number.isInteger);
    return [
      niceTicks(0, high, 4).map((v) => [svg("line", { class: "axis", x1: frame.left, x2: frame.right, y1: Y(v), y2: Y(v) }), svg("text", { x: frame.left - 7, y: Y(v) + 4, "text-anchor": "end" }, brief(v))]),
      ticks.map((n) => [svg("line", { class: "axis", x1: X(n), x2: X(n), y1: frame.bottom, y2: frame.bottom + 4 }), svg("text", { x: X(n), y: frame.bottom + 17, "text-anchor": "middle" }, n)]),
      svg("text", { x: frame.right, y: frame.bottom + 33, "text-anchor": "end" }, "request"), svg("text", { x: frame.left, y: 12 }, "tokens"),
    ];
  }
  // Two labels at one height would cover each other.
  function ends(name) {
    const last = requests.at(-1);
    const raw = Y(last.raw);
    const near = Math.abs(Y(last.sent) - raw) < 14;
    const sent = near ? Math.min(raw + 14, frame.bottom) : Y(last.sent);
    return [svg("text", { x: X(last.number) + 8, y: (near ? sent - 14 : raw) + 4 }, "raw"), svg("text", { class: "strong accented", x: X(last.number) + 8, y: sent + 4 }, name)];
  }
  function nearest(event) {
    const box = drawing.getBoundingClientRect();
    const first = requests[0].number, last = requests.at(-1).number;
    const number = first + clamp((event.clientX - box.left - frame.left) / (frame.right - frame.left), 0, 1) * (last - first);
    return requests.reduce((best, r) => (Math.abs(r.number - number) < Math.abs(best.number - number) ? r : best));
  }
  function point(request) {
    guide?.setAttribute("visibility", request ? "visible" : "hidden");
    const shaded = requests.some((r) => r.sent < r.raw) ? `The shaded part ${fate}.` : "Nothing was saved: both lines are one.";
    if (!request) { readout.textContent = `${shaded} Point at the chart for its figures.`; return; }
    guide.setAttribute("x1", X(request.number));
    guide.setAttribute("x2", X(request.number));
    readout.textContent = `Request ${request.number}: raw ${whole.format(request.raw)}, sent ${whole.format(request.sent)} (${change(request.raw ? request.sent / request.raw - 1 : 0)})`;
  }
  return { node: figure, draw };
}
