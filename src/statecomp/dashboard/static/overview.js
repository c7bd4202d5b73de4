// Totals and the list of sessions.
import { ask, forget } from "./api.js";
import { acted, ago, clock, money, moneyInColumn, saving, share, taskName, tiny, tokens } from "./numbers.js";
import { fact, meter, replace, tone } from "./redraw.js";
import { routersPart } from "./routers.js";
import { byId, counted, el, visible, whole } from "./tools.js";

const LIVE_S = 30;

export function overviewPage(root) {
  let data = null;
  const routers = routersPart();
  const search = el("input", { type: "search", id: "search", placeholder: "Search task, client, model…", "aria-label": "Search sessions", oninput: drawList });
  root.replaceChildren(
    el("h1", { class: "off-screen" }, "StateComp: what was sent, and what was saved"),
    el("div", { id: "totals" }),
    el("section", { id: "sessions", "aria-labelledby": "sessions-title", hidden: true },
      el("div", { class: "section-head" }, el("h2", { id: "sessions-title" }, "Sessions"), el("span", { class: "note", id: "found", role: "status" }), search),
      el("div", { class: "card", id: "session-list" })),
    routers.root);
  document.title = "StateComp";
  forget("overview");

  async function refresh(signal) {
    routers.refresh(signal).catch(() => {}); // what is beside the account must not hide it
    const news = await ask("overview", "", signal);
    if (!news) return;
    data = news;
    const none = !data.totals.requests && !data.sessions.length;
    replace(byId("totals"), none ? welcome() : totalsPart(data.totals, data.records));
    byId("sessions").hidden = none;
    drawList();
  }
  function drawList() {
    if (!data) return;
    const wanted = search.value.trim().toLowerCase();
    const found = data.sessions.filter((session) => matches(session, wanted));
    const all = data.sessions.length;
    byId("found").textContent = wanted ? `${found.length} of ${all}` : all < data.listed ? "" : `the latest ${data.listed}`;
    replace(byId("session-list"), found.length ? table(found) : el("p", { class: "empty" }, wanted ? "No session matches." : "No session is kept any more; the totals above still count what was."));
  }
  return { refresh, tick: drawAges };
}

function matches(session, wanted) {
  return [session.title, session.client, session.model, session.protocol, session.id].join(" ").toLowerCase().includes(wanted);
}

function welcome() {
  const here = location.origin;
  return el("div", { class: "card welcome" },
    el("h2", {}, "No request yet"),
    el("p", {}, "Point your agent at this proxy and change nothing else; what it sends and what is saved appears here as it happens."),
    el("pre", { tabindex: 0 }, `OPENAI_BASE_URL=${here}/v1\nANTHROPIC_BASE_URL=${here}`),
    el("p", { class: "note" }, "Where the proxy asks for a token, put it into the address: ", el("code", {}, `${here}/t/TOKEN/v1`), "."));
}

function totalsPart(totals, records) {
  const { usage, observed } = totals, real = acted(totals);
  return [
    real.requests || !observed.requests ? heroes(real, "Dollars saved", "Tokens saved", "sent") : null,
    observed.requests ? observedPart(observed) : null,
    el("dl", { class: "facts card" },
      fact("Requests", whole.format(totals.requests), observed.requests ? `${whole.format(observed.requests)} of them only observed` : "through this proxy"),
      fact("From the cache", share(usage.cached, usage.input), usage.input ? `${tokens(usage.cached)} of ${tokens(usage.input)} input tokens, as the provider reports` : "no provider has reported usage yet"),
      fact("Written to the cache", share(usage.written, usage.input), usage.input ? `${tokens(usage.written)} tokens, as the provider reports` : "no provider has reported usage yet"),
      fact("Commits", whole.format(totals.commits), "spans replaced by a summary, and not taken back"),
      totals.record_dollars || records ? fact("Records by a model", money(totals.record_dollars), `part of what was sent${records ? `; ${money(records.today)} of it today${records.day === null ? "" : `, of ${money(records.day)} that they may cost a day`}` : ""}`) : null,
      fact("Regrets", whole.format(totals.regrets), "later steps that wanted what was taken", totals.regrets ? "regretted" : null)),
    el("p", { class: "note footing" }, "Raw is the history that agents sent to the proxy, system prompt included; sent is what went on to the model. ", beside(totals), "Dollars are those of whole requests by the price book, with prompt caching where the provider or the client caches."),
  ];
}
// What a provider reports is of whole requests: the definitions of tools stand beside the history.
function beside({ raw_tokens: raw, sent_tokens: sent, outside_tokens: outside }) {
  if (!outside) return "";
  return `Tool definitions, ${tokens(outside)} tokens, go out beside it as they came: with them ${tokens(raw + outside)} came in and ${tokens(sent + outside)} went out, ${share(raw - sent, raw + outside)} less. `;
}
function observedPart(observed) {
  return el("section", { class: "observed-part", "aria-label": "Only observed" },
    heroes(observed, "Dollars that would have been saved", "Tokens that would have been saved", "would be sent"),
    el("p", { class: "note" }, `${counted(observed.requests, "request")} only observed: nothing was rewritten, and they went out as they came. There would have been ${counted(observed.commits, "commit")} and ${counted(observed.regrets, "regret")}.`));
}
function heroes(sums, dollars, of, sent) {
  const saved = saving(sums);
  return el("div", { class: "heroes" },
    hero(dollars, saved.dollars, sums.sent_dollars, sums.raw_dollars, money, sent),
    hero(`${of}, of the histories`, saved.tokens, sums.sent_tokens, sums.raw_tokens, tokens, sent));
}
function hero(title, saved, sent, raw, write, name) {
  return el("div", { class: "card hero" },
    el("h2", {}, title),
    el("p", { class: saved < 0 ? "figure negative" : "figure" }, write(saved), el("span", {}, share(saved, raw))),
    meter(sent, raw, `${name} ${write(sent)} of raw ${write(raw)}`),
    el("p", { class: "sides" }, el("span", {}, `${name} `, el("b", {}, write(sent))), el("span", {}, "raw ", el("b", {}, write(raw)))),
    saved < 0 ? el("p", { class: "negative note" }, "So far this costs more than it saves: a rewrite breaks the provider’s cache once, and only later requests can pay that back.") : null);
}

const COLUMNS = [["Task", "left"], ["Client and model", "left"], ["Requests"], ["Tokens saved"], ["Dollars saved"], ["Regrets"], ["Last seen"]];

function table(sessions) {
  return el("table", { class: "stacks" },
    el("thead", {}, el("tr", {}, COLUMNS.map(([name, side]) => el("th", { scope: "col", class: side }, name)))),
    el("tbody", {}, sessions.map((session) => row(session, sessions.find((other) => other.id === session.parent)))));
}
function row(session, parent) {
  const { totals } = session;
  // Of a session that was only observed there is nothing else to tell; the label says what it is.
  const real = acted(totals), sums = real.requests ? real : totals.observed, saved = saving(sums);
  const would = (value) => (real.requests || !sums.requests ? value : [value, el("small", { class: "would" }, "would have saved")]);
  const cell = (label, value, kind) => el("td", { "data-label": label, class: kind }, value);
  return el("tr", {},
    el("td", { class: "task" }, el("a", { href: `#/session/${encodeURIComponent(session.id)}`, "data-key": session.id }, visible(taskName(session))),
      session.parent ? el("small", { class: "under" }, parent ? `sub-agent of “${visible(taskName(parent))}”` : "sub-agent") : null,
      saved.tokens > 0 || !session.note ? null : el("small", { class: "under why", title: visible(session.note) }, `saved nothing so far: ${visible(session.note)}`)),
    el("td", { class: "left who" }, el("span", {}, visible(session.client) || "–"), el("span", { class: "muted" }, visible(session.model) || "–")),
    cell("Requests", whole.format(totals.requests)),
    cell("Tokens saved", would(share(saved.tokens, sums.raw_tokens)), tone(saved.tokens)),
    cell("Dollars saved", would(moneyInColumn(saved.dollars)), tiny(saved.dollars) ? null : tone(saved.dollars)),
    cell("Regrets", sums.regrets ? whole.format(sums.regrets) : "–", sums.regrets ? "regretted" : "quiet"),
    cell("Last seen", el("time", { "data-s": session.last_s, title: clock(session.last_s), datetime: new Date(session.last_s * 1000).toISOString() }, ...age(session.last_s))));
}
function age(seconds) {
  const live = Date.now() / 1000 - seconds < LIVE_S;
  return [live ? el("span", { class: "live-dot", title: "live" }) : "", ago(seconds)];
}
export function drawAges() {
  for (const node of document.querySelectorAll("time[data-s]")) node.replaceChildren(...age(Number(node.dataset.s)));
}
