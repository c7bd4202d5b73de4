// The compression grid: requests across, interactions down.  Only what is in sight is drawn, so a
// run of a thousand requests is as quick as one of ten.
import { brief, change, clamp, el, visible, whole } from "./tools.js";
import { steps } from "./numbers.js";

const NAMES = { k: "kept", s: "summarised", l: "locked: may never be replaced" };
const LANES = ["request", "commit", "regret"];
const ROW = 19, LANE = 19, TOP = LANES.length * LANE;

export function grid(onCommit) {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const sheet = el("div", { class: "sheet" }, canvas);
  const box = el("div", { class: "grid-box", tabindex: 0, role: "application", "aria-label": "Compression grid: requests across, interactions down. Arrow keys move, Enter opens the commit.", "aria-describedby": "grid-says" }, sheet);
  const says = el("div", { class: "grid-says", id: "grid-says", role: "status" });
  const zoom = ["Readable", "Whole run"].map((name, place) => el("button", { type: "button", "aria-pressed": String(!place), "data-key": name, onclick: () => choose(place) }, name));
  const node = el("div", { class: "card grid-card" },
    el("div", { class: "grid-head" }, el("ul", { class: "legend", "aria-label": "Legend" }, legend()), el("div", { class: "zoom", role: "group", "aria-label": "Size of the grid" }, zoom)),
    box, says);
  let data = { requests: [], labels: [], commits: [], regrets: [] };
  let rows = 0, size = null, colours = {}, wholeRun = false, waiting = 0;
  let cursor = null, hover = null, told = null, committed = new Map(), regretted = new Map(), ends = new Set(), blocks = [];

  function draw(news) {
    if (news) {
      const first = !size, right = first || box.scrollLeft + box.clientWidth >= box.scrollWidth - 2, bottom = first || box.scrollTop + box.clientHeight >= box.scrollHeight - 2;
      data = news;
      rows = Math.max(0, ...data.requests.map((r) => r.states.length));
      committed = groupBy(data.commits, (commit) => commit.request);
      regretted = groupBy(data.regrets, (regret) => regret.request);
      ends = new Set(data.commits.map((commit) => commit.last));
      blocks = data.commits.map(blockOf).filter(Boolean);
      measure();
      // A run that does not fit is shown at its end, where it goes on, unless someone looks elsewhere.
      if (right && document.activeElement !== box && box.scrollWidth > box.clientWidth) box.scrollTo(box.scrollWidth, bottom ? box.scrollHeight : box.scrollTop);
    } else measure();
    tell();
    paintSoon();
  }
  function measure() {
    const style = getComputedStyle(node);
    const room = node.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - 2;
    const columns = Math.max(1, data.requests.length), narrow = room < 560;
    const tall = Math.max(180, Math.round(window.innerHeight * 0.62));
    const labels = wholeRun ? 40 : narrow ? 116 : Math.min(300, Math.round(room * 0.32));
    size = wholeRun
      ? { labels, cell: Math.min(26, (room - labels) / columns), row: Math.min(ROW, (tall - TOP) / Math.max(1, rows)) }
      : { labels, cell: clamp((room - labels - (TOP + rows * ROW > tall ? 16 : 0)) / columns, narrow ? 14 : 11, 26), row: ROW };
    const width = size.labels + columns * size.cell, height = TOP + rows * size.row;
    sheet.style.width = `${Math.floor(width)}px`;
    sheet.style.height = `${Math.ceil(height)}px`;
    box.style.maxHeight = `${tall + 2}px`;
    const ratio = window.devicePixelRatio || 1;
    size.width = Math.min(box.clientWidth, Math.ceil(width));
    size.height = Math.min(box.clientHeight, Math.ceil(height));
    canvas.width = Math.max(1, Math.round(size.width * ratio));
    canvas.height = Math.max(1, Math.round(size.height * ratio));
    canvas.style.width = `${size.width}px`;
    canvas.style.height = `${size.height}px`;
    const root = getComputedStyle(document.documentElement);
    for (const name of ["surface", "ink", "muted", "line", "soft", "accent", "accent-ink", "kept", "pinned", "commit", "broken"]) colours[name] = root.getPropertyValue(`--${name}`).trim();
  }
  function paintSoon() { if (!waiting) waiting = requestAnimationFrame(() => { waiting = 0; paint(); }); }

  function paint() {
    const ctx = canvas.getContext("2d");
    const ratio = window.devicePixelRatio || 1;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.fillStyle = colours.surface;
    ctx.fillRect(0, 0, size.width, size.height);
    const left = box.scrollLeft, top = box.scrollTop;
    const sight = {
      from: Math.max(0, Math.floor(left / size.cell)), to: Math.min(data.requests.length, Math.ceil((left + size.width - size.labels) / size.cell)),
      first: Math.max(1, Math.floor(top / size.row) + 1), last: Math.min(rows, Math.ceil((top + size.height - TOP) / size.row)),
    };
    const X = (column) => Math.round(size.labels + column * size.cell - left), Y = (number) => Math.round(TOP + (number - 1) * size.row - top);
    paintBand(ctx, X);
    paintCells(ctx, sight, X, Y);
    if (hover) paintMark(ctx, hover, X, Y, colours.muted, 1);
    if (cursor && (document.activeElement === box || cursor.held)) paintMark(ctx, cursor, X, Y, colours.ink, 2);
    paintLanes(ctx, sight, X);
    paintLabels(ctx, sight, Y);
  }
  function paintBand(ctx, X) {
    const at = cursor ?? hover;
    if (!at) return;
    ctx.fillStyle = colours.soft;
    ctx.fillRect(X(at.column), 0, X(at.column + 1) - X(at.column), size.height);
  }
  // Neighbours of one state are one rectangle: a whole run is a few thousand of them, not a million.
  function paintCells(ctx, { from, to, first, last }, X, Y) {
    const gap = size.cell >= 6 ? 1 : 0, roomy = size.row >= 8;
    for (let number = first; number <= last; number++) {
      const y = Y(number), bottom = Y(number + 1);
      let start = from;
      while (start < to) {
        const state = data.requests[start].states[number - 1];
        let stop = start + 1;
        while (stop < to && data.requests[stop].states[number - 1] === state) stop++;
        if (state && state !== ".") {
          ctx.fillStyle = state === "s" ? colours.accent : state === "l" ? colours.pinned : colours.kept;
          // A summary is one block from its first interaction to its last, with a hint of its rows.
          const joined = state === "s" && !ends.has(number);
          const height = Math.max(1, bottom - y - (roomy ? (joined ? 1 : 3) : 0));
          const wide = X(stop) - X(start) - 2 * gap;
          if (state === "s" || !gap) ctx.fillRect(X(start) + gap, y, Math.max(1, wide), height);
          else for (let column = start; column < stop; column++) ctx.fillRect(X(column) + gap, y, X(column + 1) - X(column) - 2 * gap, height);
          if (joined && roomy) { ctx.globalAlpha = 0.78; ctx.fillRect(X(start) + gap, bottom - 1, wide, 1); ctx.globalAlpha = 1; }
        }
        start = stop;
      }
    }
    if (size.row >= 14) paintNames(ctx, { from, to, first, last }, X, Y);
  }
  // Where a commit first shows in what was sent, and until when.
  function blockOf(commit) {
    const covers = (request) => request.states[commit.first - 1] === "s" && request.when_s >= commit.when_s;
    const start = data.requests.findIndex(covers);
    if (start < 0) return null;
    const end = data.requests.findIndex((request, column) => column > start && !covers(request));
    return { commit, start, stop: end < 0 ? data.requests.length : end };
  }
  function paintNames(ctx, { from, to, first, last }, X, Y) {
    ctx.font = "600 11px system-ui, sans-serif"; ctx.textAlign = "left"; ctx.textBaseline = "middle"; ctx.fillStyle = colours["accent-ink"];
    for (const { commit, start, stop } of blocks) {
      if (stop <= from || start >= to || commit.last < first || commit.first > last) continue;
      const text = steps(commit), x = Math.max(X(start), size.labels) + 7;
      const row = clamp(Math.max(commit.first, first + (Y(first) < TOP ? 1 : 0)), commit.first, commit.last);
      if (X(stop) - x > ctx.measureText(text).width + 4) ctx.fillText(text, x, Y(row) + size.row / 2);
    }
  }
  function paintMark(ctx, place, X, Y, colour, width) {
    const y = place.row ? Y(place.row) : 0, height = place.row ? Math.max(2, Y(place.row + 1) - y - 1) : TOP - 1;
    if (place.row && y + height < TOP) return;
    const x = X(place.column), w = Math.max(2, X(place.column + 1) - x);
    ctx.lineWidth = width + 2; ctx.strokeStyle = colours.surface;
    ctx.strokeRect(x, y, w, height);
    ctx.lineWidth = width; ctx.strokeStyle = colour;
    ctx.strokeRect(x, y, w, height);
  }
  function paintLanes(ctx, { from, to }, X) {
    const at = cursor ?? hover;
    ctx.fillStyle = colours.surface;
    ctx.fillRect(0, 0, size.width, TOP);
    if (at) { ctx.fillStyle = colours.soft; ctx.fillRect(X(at.column), 0, X(at.column + 1) - X(at.column), TOP); }
    const every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((n) => n * size.cell >= 30) ?? 1000;
    ctx.font = "11px system-ui, sans-serif"; ctx.textAlign = "center"; ctx.textBaseline = "middle";
    for (let column = from; column < to; column++) {
      const request = data.requests[column], middle = (X(column) + X(column + 1)) / 2;
      if (request.number % every === 0) {
        // Whole at both edges: half a number would be another one.
        const half = ctx.measureText(request.number).width / 2 + 2;
        ctx.fillStyle = colours.muted;
        if (middle - half >= size.labels) ctx.fillText(request.number, Math.min(middle, size.width - half), LANE / 2 + 0.5);
      }
      if (committed.has(request.number)) diamond(ctx, middle, LANE * 1.5, Math.min(5, Math.max(2.5, size.cell / 2)));
      if (regretted.has(request.number)) cross(ctx, middle, LANE * 2.5, Math.min(4, Math.max(2.5, size.cell / 2)));
    }
    if (cursor && !cursor.row && (document.activeElement === box || cursor.held)) paintMark(ctx, cursor, X, () => 0, colours.ink, 2);
    ctx.fillStyle = colours.line;
    ctx.fillRect(0, TOP - 1, size.width, 1);
  }
  function diamond(ctx, x, y, r) {
    ctx.fillStyle = colours.commit;
    ctx.beginPath(); ctx.moveTo(x, y - r); ctx.lineTo(x + r, y); ctx.lineTo(x, y + r); ctx.lineTo(x - r, y); ctx.fill();
  }
  function cross(ctx, x, y, r) {
    ctx.strokeStyle = colours.broken; ctx.lineWidth = 2; ctx.lineCap = "round";
    ctx.beginPath(); ctx.moveTo(x - r, y - r); ctx.lineTo(x + r, y + r); ctx.moveTo(x + r, y - r); ctx.lineTo(x - r, y + r); ctx.stroke();
  }
  function paintLabels(ctx, { first, last }, Y) {
    ctx.fillStyle = colours.surface;
    ctx.fillRect(0, 0, size.labels, size.height);
    ctx.textBaseline = "middle";
    const every = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((n) => n * size.row >= 14) ?? 500;
    const at = cursor ?? hover;
    ctx.save();
    ctx.beginPath(); ctx.rect(0, TOP, size.labels - 6, size.height - TOP); ctx.clip();
    for (let number = first; number <= last; number++) {
      const y = Y(number) + size.row / 2, chosen = at?.row === number;
      if (chosen && size.row >= 8) { ctx.fillStyle = colours.soft; ctx.fillRect(0, Y(number), size.labels, size.row); }
      const crowded = !chosen && at?.row && at.row !== number && Math.abs(at.row - number) * size.row < 14;
      if ((number % every && !chosen) || crowded || (every > 1 && y > size.height - 7)) continue;
      ctx.font = `${chosen ? "600 " : ""}11px system-ui, sans-serif`;
      ctx.textAlign = "right"; ctx.fillStyle = colours.muted;
      ctx.fillText(number, 30, y);
      if (wholeRun) continue;
      ctx.textAlign = "left"; ctx.fillStyle = colours.ink;
      ctx.fillText(fitted(ctx, visible(data.labels[number - 1] ?? ""), size.labels - 46), 38, y);
    }
    ctx.restore();
    ctx.textAlign = "right"; ctx.fillStyle = colours.muted; ctx.font = "11px system-ui, sans-serif";
    ctx.fillStyle = colours.surface; ctx.fillRect(0, 0, size.labels, TOP - 1); ctx.fillStyle = colours.muted;
    if (!wholeRun) LANES.forEach((name, lane) => ctx.fillText(name, size.labels - 8, (lane + 0.5) * LANE));
    ctx.fillStyle = colours.line;
    ctx.fillRect(size.labels - 1, 0, 1, size.height);
    ctx.fillRect(0, TOP - 1, size.labels, 1);
  }

  function placeOf(event) {
    const frame = canvas.getBoundingClientRect();
    const x = event.clientX - frame.left - size.labels + box.scrollLeft, y = event.clientY - frame.top;
    if (!data.requests.length || event.clientX - frame.left < size.labels) return null;
    const column = clamp(Math.floor(x / size.cell), 0, data.requests.length - 1);
    return { column, row: y < TOP ? 0 : clamp(Math.floor((y - TOP + box.scrollTop) / size.row) + 1, 0, rows) };
  }
  function coverOf({ row, column }) {
    const request = data.requests[column];
    if (!row || request?.states[row - 1] !== "s") return null;
    return data.commits.filter((c) => c.first <= row && row <= c.last && c.when_s <= request.when_s).at(-1) ?? null;
  }
  function tell() {
    const place = told;
    const request = place && data.requests[place.column];
    if (!request) { says.replaceChildren(el("p", { class: "note" }, "Point at a cell, tap it, or use the arrow keys: its score and what became of it is told here.")); return; }
    says.replaceChildren(...(place.row ? aboutCell(request, place) : aboutRequest(request)));
  }
  function aboutRequest(request) {
    const regrets = regretted.get(request.number) ?? [];
    return [el("p", {}, el("b", {}, `Request ${request.number}`), ` raw ${whole.format(request.raw)}, sent ${whole.format(request.sent)} tokens (${change(request.raw ? request.sent / request.raw - 1 : 0)})`),
      request.note ? el("p", { class: "what" }, visible(request.note)) : null,
      ...regrets.map((regret) => el("p", { class: "what regretted" }, `${regret.kind}: ${visible(regret.detail)}`))].filter(Boolean);
  }
  function aboutCell(request, place) {
    const state = request.states[place.row - 1], commit = coverOf(place);
    const known = state && state !== ".";
    const here = request.scores?.[place.row - 1] ?? null, then = commit?.scores.find(([number]) => number === place.row)?.[1] ?? null;
    const scored = here !== null ? `score ${here.toFixed(3)}` : then !== null ? `score ${then.toFixed(3)} when it was decided` : "not scored here";
    return [
      el("p", {}, el("b", {}, `Interaction ${place.row} at request ${request.number}`), known ? [el("span", { class: `swatch ${state}` }), NAMES[state]] : " not yet there",
        known ? el("span", { class: "muted" }, ` · ${scored}`) : null,
        commit ? el("button", { type: "button", class: "link", "data-key": "open", onclick: () => onCommit(commit.id) }, `Open commit of ${steps(commit)}`) : null),
      el("p", { class: "what mono" }, visible(data.labels[place.row - 1] ?? "")),
    ];
  }

  function move(event) {
    const far = Math.max(1, Math.floor(box.clientHeight / size.row) - 4);
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0], Home: [0, -Infinity], End: [0, Infinity], PageDown: [far, 0], PageUp: [-far, 0] }[event.key];
    if (!data.requests.length) return;
    if (step) {
      const at = cursor ?? { row: 0, column: data.requests.length - 1 };
      put({ row: clamp(at.row + step[0], 0, rows), column: clamp(at.column + step[1], 0, data.requests.length - 1) });
    } else if ((event.key === "Enter" || event.key === " ") && event.target === box) {
      const commit = cursor && (coverOf(cursor) ?? (cursor.row ? null : committed.get(data.requests[cursor.column].number)?.at(-1)));
      if (commit) onCommit(commit.id);
    } else if (event.key === "Escape") { cursor = told = null; tell(); paintSoon(); return; } else return;
    event.preventDefault();
  }
  function put(place) {
    cursor = told = { ...place, held: true };
    hover = null;
    reveal();
    tell();
    paintSoon();
  }
  function reveal() {
    const left = cursor.column * size.cell, top = (cursor.row - 1) * size.row;
    const wide = box.clientWidth - size.labels, high = box.clientHeight - TOP;
    if (left < box.scrollLeft) box.scrollLeft = left;
    else if (left + size.cell > box.scrollLeft + wide) box.scrollLeft = left + size.cell - wide;
    if (!cursor.row) return;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + size.row > box.scrollTop + high) box.scrollTop = top + size.row - high;
  }
  function choose(place) {
    wholeRun = place === 1;
    zoom.forEach((button, other) => button.setAttribute("aria-pressed", String(other === place)));
    measure();
    if (cursor) reveal();
    paintSoon();
  }
  function pick(request) { put({ row: 0, column: data.requests.indexOf(request) }); }

  box.addEventListener("scroll", paintSoon, { passive: true });
  box.addEventListener("keydown", move);
  box.addEventListener("focus", () => { if (!cursor && data.requests.length) put({ row: Math.min(1, rows), column: data.requests.length - 1 }); else paintSoon(); });
  box.addEventListener("blur", paintSoon);
  canvas.addEventListener("pointermove", (event) => { if (event.pointerType === "touch") return; hover = placeOf(event); told = hover ?? told; tell(); paintSoon(); });
  // What was told stays, so that the way from a cell to its button does not take the button away.
  canvas.addEventListener("pointerleave", () => { hover = null; paintSoon(); });
  canvas.addEventListener("click", (event) => { const place = placeOf(event); if (place) put(place); });
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const recolour = () => draw();
  scheme.addEventListener("change", recolour);
  return { node, draw, pick, close: () => scheme.removeEventListener("change", recolour) };
}

function fitted(ctx, text, width) {
  if (ctx.measureText(text).width <= width) return text;
  let length = Math.min(text.length, Math.floor(width / 3));
  while (length > 1 && ctx.measureText(`${text.slice(0, length)}…`).width > width) length--;
  return `${text.slice(0, length)}…`;
}
function groupBy(items, key) {
  const found = new Map();
  for (const item of items) found.set(key(item), [...(found.get(key(item)) ?? []), item]);
  return found;
}
function legend() {
  return [["k", "kept"], ["s", "summarised; one block is one summary"], ["l", "locked"], ["c", "commit decided"], ["r", "regret"]]
    .map(([state, text]) => el("li", {}, el("span", { class: `swatch ${state}`, "aria-hidden": "true" }), text));
}
export function kept(request) {
  const gone = [...request.states].filter((state) => state === "s").length;
  return request.states.length ? `${request.states.length - gone} of ${brief(request.states.length)}` : "–";
}
