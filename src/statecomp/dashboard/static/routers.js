// Which router decides, whether its scores hold with each client, and the button that changes it.
import { ask, back, use } from "./api.js";
import { rivalsPart } from "./rivals.js";
import { counted, el, percent, visible, whole } from "./tools.js";

const EVERY_MS = 30000;

export function routersPart() {
  const root = el("section", { class: "card routers", "aria-labelledby": "routers-title", hidden: true });
  let asked = -EVERY_MS, data = null, opened = null;

  async function refresh(signal) {
    if (performance.now() - asked < EVERY_MS) return;
    asked = performance.now();
    show(await ask("routers", "", signal));
  }
  function show(news, trouble) {
    data = news ?? data;
    if (!data) return;
    root.hidden = !data.routers.length && !data.watch.clients.length && !data.rivals;
    root.replaceChildren(
      el("h2", { id: "routers-title" }, "The router and its scores"),
      data.in_use ? el("p", {}, "Deciding now: ", el("b", {}, visible(data.in_use)), data.switchable && data.before ? [" ", el("button", { type: "button", class: "back", onclick: () => change(back) }, `Back to ${visible(data.before)}`)] : ".") : "",
      trouble ? el("p", { class: "warn", role: "alert" }, visible(trouble)) : "",
      data.switchable && data.routers.length ? list(data, change) : "",
      data.rivals ? rivalsPart(data.rivals) : "",
      data.watch.clients.length ? held(data.watch, opened, (wish) => { opened = wish; }) : "");
  }
  async function change(asked) {
    try { show(await asked()); } catch (error) { show(null, error.message); }
  }
  return { root, refresh };
}

function list({ in_use: used, routers }, change) {
  const item = (name, words, page, better) => el("li", {},
    el("div", {}, el("b", {}, visible(name)), page ? [" ", el("a", { href: `api/routers/${encodeURIComponent(name)}/page` }, "beside the shipped one")] : "",
      el("small", {}, words)),
    name === used ? el("span", { class: "note" }, "in use") : el("button", { type: "button", disabled: better ? null : "", title: better ? null : "It was not better on held-out sessions.", onclick: () => change(() => use(name)) }, "Use it"));
  return el("ul", { class: "router-list" },
    item("shipped", "comes with the package", false, true),
    routers.map((one) => item(one.name, told(one), true, one.better)));
}

function told({ better, sessions, labels, auroc, against }) {
  const [shipped, yours] = auroc.map((value) => (value === null ? "?" : value.toFixed(3)));
  const measured = `AUROC ${yours}, the shipped one ${shipped}, ${whole.format(sessions)} sessions, labels by ${visible(labels)}`;
  return better ? measured : `${measured}; not better: ${against.map(visible).join("; ")}`;
}

// Of the steps that were replaced and of which it is settled whether anybody came back.
// The tables open by themselves where something drifts, and stay as a person left them.
function held({ clients, kinds, curve, routers, prices }, opened, choose) {
  const loud = clients.filter((client) => client.drifts);
  return el("div", {},
    el("h3", {}, "Do the scores hold?"),
    el("p", { class: loud.length ? "warn" : "note" }, loud.length
      ? loud.map((client) => `With ${visible(client.name)} more comes back than the scores say, beyond chance: its gates are ${client.caution} times stricter until that ends.`).join(" ")
      : "With no client more comes back than chance allows for the scores it was given; one with fewer than ten settled steps is not judged yet."),
    el("details", { open: opened ?? loud.length > 0 ? "" : null }, el("summary", { onclick: (click) => choose(!click.currentTarget.parentNode.open) }, "What came back, by score and by kind of step"),
      el("div", { class: "scroll" }, table("client · score", curve), table("client · kind of step", kinds), routers.length > 1 ? table("router", routers) : null)),
    prices.length ? el("p", { class: "note" }, prices.map(priced).join(" ")) : null);
}

function priced({ name, returns, part, tokens }) {
  return `${visible(name)} made ${counted(returns, "replaced call")} again and read ${whole.format(tokens)} tokens each time: the rule counts ${percent(part, 0)} of an output as read again.`;
}

function table(first, shares) {
  return el("table", { class: "watch" },
    el("thead", {}, el("tr", {}, [first, "steps", "came back", "95 % of it", "the scores say"].map((name, place) => el("th", { scope: "col", class: place ? null : "left" }, name)))),
    el("tbody", {}, shares.map((share) => el("tr", { class: share.drifts ? "regretted" : null },
      el("th", { class: "left" }, visible(share.name)),
      el("td", {}, whole.format(share.steps)),
      el("td", {}, percent(share.wanted / share.steps, 1)),
      el("td", {}, `${percent(share.low, 1)} to ${percent(share.high, 1)}`),
      el("td", {}, percent(share.expected, 1))))));
}
