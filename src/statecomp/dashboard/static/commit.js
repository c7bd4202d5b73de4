// One commit: its scores, the inequality, the summary beside what it stands for, and undo.
import { ask, forget, undo } from "./api.js";
import { clock, money, share, steps } from "./numbers.js";
import { badge, meter, replace } from "./redraw.js";
import { byId, counted, el, visible, whole } from "./tools.js";

const STANDS_IN = "an extract";
const STATES = {
  live: "The summary goes out instead of these interactions in every request that continues this run.",
  undone: "Taken back: the interactions go out as they came, and are not taken again.",
  suspect: "A provider refused a request with this summary in it; the interactions go out as they came, and are not taken again.",
  observed: "Only observed: nothing was rewritten. This is what would have been sent.",
};

export function commitView(id) {
  const node = el("div", { class: "commit-view" }, el("p", { class: "note" }, "Reading the ledger…"));
  const name = `commits/${encodeURIComponent(id)}`;
  let state = "";

  async function load() {
    forget(name);
    try { draw(await ask(name)); } catch (error) { node.replaceChildren(el("p", { class: "banner" }, error.message)); }
  }
  function draw(commit) {
    state = commit.state;
    replace(node,
      el("div", { class: "commit-top" }, el("p", {}, badge(commit.state), " ", commit.within ? `The task is finished: the record of interactions ${commit.within} goes out in place of this one.` : STATES[commit.state]), undoButton(commit)),
      el("div", { class: "reasons" }, scoresPart(commit), gatePart(commit.gate), commit.router ? el("p", { class: "note" }, `Scored by the router “${visible(commit.router)}”.`) : null, commit.writer ? el("p", { class: "note" }, `Its record: ${writtenBy(commit.writer)}.`) : null),
      regretsPart(commit),
      el("div", { class: "beside" },
        column(`Summary · ${counted(commit.summary_tokens, "token")}`, "summary-text", el("pre", {}, visible(commit.summary))),
        column(`Original · ${counted(commit.source_tokens, "token")}`, "original-text", originalPart(commit.original))),
      el("p", { class: "note ids" }, `Commit ${visible(commit.id)}, decided ${clock(commit.when_s)}. Originals are kept for audit only, secrets masked; they are not sent.`));
  }
  function undoButton(commit) {
    if (commit.state !== "live") return null;
    return el("button", { type: "button", class: "danger", "data-key": "undo", onclick: () => confirmUndo(commit, async () => { draw(await undo(commit.id)); window.dispatchEvent(new Event("statecomp-changed")); }) }, "Undo this commit…");
  }
  load();
  return { node, seen: (now) => { if (state && now !== state) load(); } };
}

function column(title, name, body) {
  return el("section", { "aria-label": title }, el("h4", {}, title), el("div", { class: `side ${name}`, tabindex: 0, role: "region", "aria-label": title }, body));
}
function originalPart(interactions) {
  if (!interactions.length) return el("p", { class: "note" }, "The original is not kept any more.");
  return interactions.map(({ number, parts }) => el("div", { class: "interaction" }, number === null ? null : el("h5", {}, `Interaction ${number}`),
    parts.map(({ kind, text }) => el("div", { class: "part" }, el("span", { class: "kind" }, visible(kind)), el("pre", {}, visible(text))))));
}
function scoresPart(commit) {
  const rows = commit.scores.map(([number, score]) => el("tr", {}, el("th", { scope: "row" }, number), el("td", { class: "wide" }, score === null ? null : meter(score, 1, `score ${score}`)), el("td", {}, score === null ? "–" : score.toFixed(3))));
  return el("section", { class: "reason" }, el("h4", {}, "Scores"),
    el("p", { class: "note" }, `How surely each of ${counted(commit.interactions, "interaction")} may be replaced in the state the run was in, from 0 to 1.`),
    rows.length ? el("div", { class: "score-box", tabindex: rows.length > 8 ? 0 : null }, el("table", { class: "scores" }, el("tbody", {}, rows))) : el("p", { class: "note" }, "No score was kept."));
}
function gatePart(gate) {
  const high = Math.max(gate.saving ?? 0, gate.cost ?? 0);
  const side = (name, amount) => el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "wide" }, meter(Math.max(0, amount), high, `${name} ${money(amount)}`)), el("td", {}, money(amount)));
  return el("section", { class: "reason" }, el("h4", {}, "Does it pay?"),
    el("p", { class: "verdict" }, visible(gate.verdict)),
    gate.saving === null ? null : el("table", { class: "scores" }, el("tbody", {}, side("carrying", gate.saving), side("replacing", gate.cost))),
    gate.lines.length ? el("ul", {}, gate.lines.map((line) => el("li", {}, visible(line)))) : null,
    gate.rest.length ? el("dl", { class: "rest" }, gate.rest.map(([name, value]) => [el("dt", {}, visible(name)), el("dd", {}, visible(value))])) : null);
}
function regretsPart(commit) {
  if (!commit.regretted.length) return null;
  return el("section", { class: "reason regrets" }, el("h4", {}, `Regrets · ${commit.regretted.length}`),
    el("ul", {}, commit.regretted.map((regret) => el("li", {}, `Request ${regret.request}, ${regret.kind}: `, el("span", { class: "mono" }, visible(regret.detail))))));
}

function confirmUndo(commit, act) {
  const dialog = byId("dialog");
  const trouble = el("p", { class: "negative", role: "alert" });
  const yes = el("button", { type: "button", class: "danger filled", onclick: async () => {
    yes.disabled = true;
    try { await act(); dialog.close(); } catch (error) { trouble.textContent = error.message; yes.disabled = false; }
  } }, "Undo");
  dialog.replaceChildren(el("h2", { id: "dialog-title" }, `Undo the commit of interactions ${steps(commit)}?`),
    el("p", {}, `From the next request on they go out as they came: ${whole.format(commit.source_tokens)} tokens instead of ${whole.format(commit.summary_tokens)}, and the provider's cache is broken once. They are not taken again.`),
    trouble, el("div", { class: "choices" }, el("button", { type: "button", autofocus: true, onclick: () => dialog.close() }, "Keep it"), yes));
  dialog.showModal();
}

// A model's name, or why an extract stands in for what a model was asked for.
export function writtenBy(writer) { return writer.startsWith(STANDS_IN) ? visible(writer) : `written by ${visible(writer)}`; }
export function writtenInShort(writer) { return writer.startsWith(STANDS_IN) ? STANDS_IN : `by ${visible(writer)}`; }

export function shortened(commit) { return share(commit.source_tokens - commit.summary_tokens, commit.source_tokens, 0); }
