// Two routers that are only observed: what each would have done with the same requests.
import { money, tokens } from "./numbers.js";
import { counted, el, percent, visible, whole } from "./tools.js";

const ROWS = [
  ["would not have been sent", (side) => `${tokens(side.tokens)} tokens (${percent(side.saved, 1)})`],
  ["dollars by the price book", (side) => `${money(side.dollars)} (${percent(side.dollars_saved, 1)})`],
  ["steps it would have replaced", (side) => whole.format(side.replaced)],
  ["of those, the other would not", (side) => `${whole.format(side.alone)}, ${whole.format(side.alone_wanted)} of them wanted later`],
  ["wanted later, so far", (side) => `${whole.format(side.wanted)} of ${whole.format(side.replaced)}${side.replaced ? ` (${percent(side.low, 1)} to ${percent(side.high, 1)})` : ""}`],
  ["in the end, by its scores", (side) => percent(side.expected, 1)],
];

export function rivalsPart({ requests, steps, both, agreement, sides }) {
  return el("div", { class: "rivals" },
    el("h3", {}, "Two routers, observed"),
    el("p", { class: "note" }, `${counted(requests, "request")} with ${counted(steps, "step")} since the start, sent as they came. Both would have replaced ${counted(both, "step")}, ${percent(agreement, 0)} of those that either would have.`),
    el("div", { class: "scroll" }, el("table", { class: "watch" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "left" }, ""), sides.map((side) => el("th", { scope: "col" }, visible(side.name))))),
      el("tbody", {}, ROWS.map(([name, cell]) => el("tr", {}, el("th", { class: "left" }, name), sides.map((side) => el("td", {}, cell(side)))))))));
}
