// One session: figures, chart, grid, commits, requests.
import { ask, forget } from "./api.js";
import { chart } from "./chart.js";
import { commitView, shortened, writtenInShort } from "./commit.js";
import { grid, kept } from "./grid.js";
import { acted, clock, money, moneyInColumn, saving, share, steps, taskName, tiny, tokens } from "./numbers.js";
import { drawAges } from "./overview.js";
import { badge, fact, replace, tone } from "./redraw.js";
import { byId, change, counted, el, visible, whole } from "./tools.js";
import { fates } from "./why.js";

const FEW = 20;

export function sessionPage(root, id, opened) {
  const name = `sessions/${encodeURIComponent(id)}`;
  let data = null, all = false, open = opened, width = 0;
  const views = new Map();
  const cells = grid(goTo), curve = chart((request) => cells.pick(request));
  root.replaceChildren(
    el("p", { class: "back" }, el("a", { href: "#/" }, "← All sessions")),
    el("div", { id: "head" }),
    el("div", { id: "body", hidden: true }, el("div", { id: "fates" }), curve.node, el("h2", { id: "grid-title" }, "What became of each interaction"), cells.node,
      el("h2", {}, "Commits"), el("div", { class: "card", id: "commits" }),
      el("h2", {}, "Requests"), el("div", { class: "card scroll", id: "requests" })));
  forget(name);

  async function refresh(signal) {
    // The last one known is asked for again: its answer may have come in since.
    const after = data?.requests.length ? data.requests.at(-1).number - 1 : 0;
    let news;
    try { news = await ask(name, `?after=${after}`, signal); } catch (error) {
      if (error.status !== 404) throw error;
      gone();
      return;
    }
    if (!news) return;
    const older = (data?.requests ?? []).filter((request) => request.number <= after);
    const requests = [...older, ...news.requests], numbers = new Map(requests.map((request) => [request.when_s, request.number]));
    data = { ...news, requests, commits: news.commits.map((commit) => ({ ...commit, request: numbers.get(commit.when_s) ?? null })) };
    draw();
  }
  function gone() {
    byId("body").hidden = true;
    replace(byId("head"), el("div", { class: "card welcome" }, el("h2", {}, "This session is not in the ledger"), el("p", {}, "It was purged, or it has reached the end of its retention.")));
  }
  function draw() {
    const first = byId("body").hidden;
    byId("body").hidden = false;
    document.title = `${visible(taskName(data.session)).slice(0, 60)} · StateComp`;
    replace(byId("head"), head(data));
    replace(byId("fates"), fates(data.requests));
    curve.draw(data.requests);
    cells.draw(data);
    drawCommits();
    replace(byId("requests"), requestsPart());
    if (first && open) show(open);
  }
  function drawCommits() {
    const rows = [...data.commits].reverse().map((commit) => commitRow(commit, commit.id === open, () => toggle(commit.id), views));
    for (const commit of data.commits) views.get(commit.id)?.seen(commit.state);
    replace(byId("commits"), rows.length ? rows : el("p", { class: "empty" }, "Nothing was replaced in this session; what became of its requests, above, says why."));
  }
  function toggle(commit) { goTo(open === commit ? "" : commit); }
  function goTo(commit) {
    const place = `#/session/${encodeURIComponent(id)}${commit ? `/commit/${encodeURIComponent(commit)}` : ""}`;
    if (location.hash !== place) location.hash = place; else show(commit);
  }
  function show(commit) {
    open = commit;
    if (!data) return;
    drawCommits();
    const row = commit && [...byId("commits").children].find((node) => node.dataset.commit === commit);
    if (!row) return;
    row.scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
    row.querySelector("button").focus({ preventScroll: true });
  }
  function requestsPart() {
    const newest = [...data.requests].reverse();
    const shown = all ? newest : newest.slice(0, FEW);
    if (!newest.length) return el("p", { class: "empty" }, "No request is kept.");
    return [requestsTable(shown, newest[0].mode), shown.length < newest.length ? el("p", { class: "more" }, el("button", { type: "button", class: "link", "data-key": "more", onclick: () => { all = true; replace(byId("requests"), requestsPart()); } }, `Show all ${newest.length} requests`)) : null];
  }
  // A phone's address bar changes the height alone, which changes no drawing.
  const resized = () => {
    if (!data || width === document.documentElement.clientWidth) return;
    width = document.documentElement.clientWidth;
    curve.draw();
    cells.draw();
  };
  width = document.documentElement.clientWidth;
  window.addEventListener("resize", resized);
  return { refresh, open: show, tick: drawAges, close: () => { window.removeEventListener("resize", resized); cells.close(); } };
}

function head({ session, requests, parent, record_limit: limit }) {
  const { totals } = session;
  const { usage, observed } = totals, real = acted(totals), all = observed.requests > 0 && !real.requests;
  const mode = requests.at(-1)?.mode ?? "";
  const about = [session.client, session.model, session.protocol].filter(Boolean).map(visible).join(" · ");
  return [
    el("h1", {}, visible(taskName(session))),
    el("p", { class: "note about" }, about, ` · started ${clock(session.started_s)} · last seen `, el("time", { "data-s": session.last_s, title: clock(session.last_s) }, clock(session.last_s).slice(11)), mode && mode !== "compress" ? [" ", badge(mode)] : null),
    session.parent ? el("p", { class: "note" }, "A sub-agent of ", el("a", { href: `#/session/${encodeURIComponent(session.parent)}` }, parent ? `“${visible(taskName(parent))}”` : "a session that is no longer kept"), ".") : null,
    observed.requests ? el("p", { class: "note" }, `${all ? "Observe mode" : `${counted(observed.requests, "request")} in observe mode`}: nothing was rewritten, “sent” is what would have gone out, and savings are what would have been saved.`) : null,
    el("dl", { class: "facts card" },
      all ? null : savedFacts(real, ["Dollars saved", "Tokens saved", "sent"]),
      observed.requests ? savedFacts(observed, ["Dollars, would have saved", "Tokens, would have saved", "would be sent"]) : null,
      totals.outside_tokens ? wholeFact(all ? observed : real, totals.outside_tokens, all ? "would be sent" : "sent") : null,
      fact("Requests", whole.format(totals.requests), all ? `${counted(observed.commits, "commit")} observed` : `${counted(totals.commits, "commit")}, not taken back`),
      fact("From the cache", share(usage.cached, usage.input), usage.input ? `${share(usage.written, usage.input)} written, as the provider reports` : "the provider has reported no usage"),
      totals.record_dollars ? fact("Records by a model", money(totals.record_dollars), `part of what was sent${limit === null ? "" : `, of ${money(limit)} that they may cost here`}`) : null,
      all ? null : fact("Regrets", whole.format(totals.regrets), "later steps that wanted what was taken", totals.regrets ? "regretted" : null),
      observed.requests ? fact("Regrets, would have been", whole.format(observed.regrets), "later steps that wanted what would have been taken", observed.regrets ? "regretted" : null) : null),
  ];
}
function savedFacts(sums, [dollars, of, sent]) {
  const saved = saving(sums);
  return [
    fact(dollars, money(saved.dollars), `${money(sums.raw_dollars)} raw, ${money(sums.sent_dollars)} ${sent} (${share(saved.dollars, sums.raw_dollars)})`, tone(saved.dollars)),
    fact(of, share(saved.tokens, sums.raw_tokens), `${tokens(sums.raw_tokens)} raw, ${tokens(sums.sent_tokens)} ${sent}, of the history`, tone(saved.tokens)),
  ];
}
// Providers report whole requests: system prompt, tool definitions and history.
function wholeFact(sums, outside, sent) {
  const saved = saving(sums), raw = sums.raw_tokens + outside;
  return fact("Of whole requests", share(saved.tokens, raw), `${tokens(raw)} raw, ${tokens(sums.sent_tokens + outside)} ${sent}, tool definitions included`, tone(saved.tokens));
}

function commitRow(commit, open, onToggle, views) {
  if (open && !views.has(commit.id)) views.set(commit.id, commitView(commit.id));
  const figures = `${whole.format(commit.source_tokens)} → ${whole.format(commit.summary_tokens)} tokens`;
  return el("div", { class: open ? "commit open" : "commit", "data-commit": commit.id },
    el("h3", {}, el("button", { type: "button", class: "commit-line", "aria-expanded": String(open), "data-key": commit.id, onclick: onToggle },
      el("span", { class: "turn", "aria-hidden": "true" }), el("span", { class: "commit-name" }, `Interactions ${steps(commit)}`), badge(commit.state, commit.within && ` in ${commit.within}`),
      el("span", { class: "commit-figures" }, figures, el("b", {}, `−${shortened(commit)}`.replace("−−", "+"))),
      el("span", { class: "commit-where" }, commit.request ? `request ${commit.request}` : "", commit.lowest === null ? "" : ` · lowest score ${commit.lowest.toFixed(2)}`, commit.writer ? ` · ${writtenInShort(commit.writer)}` : ""),
      commit.regrets ? el("span", { class: "regretted" }, counted(commit.regrets, "regret")) : null)),
    open ? views.get(commit.id).node : null);
}

const COLUMNS = [["#"], ["Time", "left"], ["Status"], ["Raw"], ["Sent"], ["Change"], ["Dollars saved"], ["From cache"], ["Kept"], ["Note", "left"]];

// A mode is told where it is not the one that the head of the page tells.
function requestsTable(requests, mode) {
  return el("table", { class: "stacks requests" },
    el("thead", {}, el("tr", {}, COLUMNS.map(([title, side]) => el("th", { scope: "col", class: side }, title)))),
    el("tbody", {}, requests.map((request) => requestRow(request, request.mode !== mode))));
}
function paid(request) { return request.record_dollars ? `records by a model: ${money(request.record_dollars)}` : ""; }
function requestRow(request, another) {
  const cell = (label, value, kind) => el("td", { "data-label": label, class: kind }, value);
  const dollars = request.raw_dollars - request.sent_dollars;
  return el("tr", {},
    el("td", { class: "number" }, request.number), cell("Time", clock(request.when_s).slice(11), "left lesser"),
    cell("Status", request.status || "–", request.status >= 400 ? "negative" : "lesser"),
    cell("Raw", whole.format(request.raw)), cell("Sent", whole.format(request.sent)),
    cell("Change", request.sent === request.raw ? "–" : change(request.raw ? request.sent / request.raw - 1 : 0).replace(" ", "\u00a0"), request.sent > request.raw ? "negative" : request.sent === request.raw ? "quiet" : null),
    cell("Dollars saved", moneyInColumn(dollars), tiny(dollars) ? "quiet" : tone(dollars)), cell("From cache", share(request.usage.cached, request.usage.input, 0), "lesser"), cell("Kept", kept(request), "lesser"),
    cell("Note", [another ? [badge(request.mode), " "] : null, [visible(request.note), paid(request)].filter(Boolean).join(" · ")], request.note || another ? "left plain" : "left plain none"));
}
