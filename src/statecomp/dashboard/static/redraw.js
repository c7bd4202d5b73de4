// Replacing what is shown without taking the keyboard away from whoever is using it.
import { el } from "./tools.js";

export function replace(node, ...children) {
  const key = node.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  node.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  if (key !== undefined) [...node.querySelectorAll("[data-key]")].find((found) => found.dataset.key === key)?.focus({ preventScroll: true });
}
export function badge(text, more = "") { return el("span", { class: `badge ${text}` }, text, more); }
export function fact(term, value, small, tone) {
  return el("div", {}, el("dt", {}, term), el("dd", { class: tone }, value, small ? el("small", {}, small) : null));
}
// The sign of a figure is told by more than its colour: the figure has its minus, the word its meaning.
export function tone(number) { return number < 0 ? "negative" : null; }

export function meter(part, all, label) {
  const bar = el("span", { class: part > all ? "meter-fill over" : "meter-fill" });
  bar.style.width = `${all > 0 ? Math.min(100, (part / all) * 100) : 0}%`;
  return el("span", { class: "meter", role: "img", "aria-label": label }, bar);
}
