// Why requests were sent as they came: how many for which reason, and the latest in words.
import { share } from "./numbers.js";
import { el, visible, whole } from "./tools.js";

const SENT_LESS = "sent less", WOULD_SEND_LESS = "would be sent less";

// What a reason is called, and what it means; one that is not here is shown by its own words.
const MEANING = {
  [SENT_LESS]: "a summary stood for older steps",
  [WOULD_SEND_LESS]: "a summary would stand for older steps",
  "committed": "a summary was written, for the requests that follow",
  "nothing ready": "no old step was scored safe to replace",
  "would not pay yet": "a rewrite would break the provider’s cache for too little",
  "too small a span": "what is safe to replace is not enough in one place",
  "too short": "there is nothing old yet",
  "all locked": "every old step must stay",
  "no summary": "no summary passed the checks",
  "decided too late": "the next request came before the decision",
  "decided before": "the same request was sent again",
  "left as it came": "the history is not ours to touch",
  "rewrites rest": "the upstream refused a rewrite not long ago",
};

function isLess(kind) { return kind === SENT_LESS || kind === WOULD_SEND_LESS; }

function counted(requests) {
  const counts = new Map();
  for (const { kind } of requests) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  // What worked comes first, then the commonest.
  return [...counts].sort(([a, n], [b, m]) => isLess(b) - isLess(a) || m - n);
}

export function fates(requests) {
  if (!requests.length) return null;
  const latest = requests.at(-1);
  const bar = el("div", { class: "fate-bar", "aria-hidden": "true" }, counted(requests).map(([kind, count]) => {
    const part = el("span", { class: isLess(kind) ? "less" : null });
    part.style.flexGrow = String(count);
    return part;
  }));
  return el("section", { class: "card fates", "aria-labelledby": "fates-title" },
    el("h2", { id: "fates-title" }, "What became of the requests"),
    bar,
    el("ul", {}, counted(requests).map(([kind, count]) => el("li", { class: isLess(kind) ? "less" : null },
      el("b", {}, whole.format(count)), ` ${visible(kind)} `,
      el("small", {}, [share(count, requests.length, 0), MEANING[kind]].filter(Boolean).join(" · "))))),
    latest.note ? el("p", { class: "latest" }, el("b", {}, `Latest (request ${latest.number}): `), visible(latest.note), ".") : null);
}
