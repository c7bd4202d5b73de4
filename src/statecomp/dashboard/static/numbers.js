// How numbers and times are written.  What is negative is written as negative.
import { brief, minus } from "./tools.js";

const MINUS = "−";

export function tokens(count) { return count < 0 ? MINUS + brief(-count) : brief(count); }

export function money(amount) {
  const size = Math.abs(amount);
  const digits = size >= 100 ? 0 : size >= 1 || size === 0 ? 2 : size >= 0.001 ? 4 : 6;
  const text = size.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${amount < 0 ? MINUS : ""}$${text}`;
}

// Too small for a column: a minus before zeros would say nothing.
export function tiny(amount) { return Math.abs(amount) < 0.00005; }

// In a column all figures have the same digits, so that they can be compared at a glance.
export function moneyInColumn(amount) {
  if (amount === 0) return "–";
  if (tiny(amount)) return "≈\u00a0$0";
  const text = Math.abs(amount).toLocaleString("en-US", { minimumFractionDigits: 4, maximumFractionDigits: 4 });
  return `${amount < 0 ? MINUS : ""}$${text}`;
}

export function share(part, all, digits = 1) { return all ? `${minus(((part / all) * 100).toFixed(digits))}\u00a0%` : "–"; }

export function saving(sums) {
  return { tokens: sums.raw_tokens - sums.sent_tokens, dollars: sums.raw_dollars - sums.sent_dollars };
}
// The requests that were not only observed: of an observed one what came in went out.
export function acted(totals) {
  const seen = totals.observed;
  return {
    requests: totals.requests - seen.requests, commits: totals.commits, regrets: totals.regrets,
    raw_tokens: totals.raw_tokens - seen.raw_tokens, sent_tokens: totals.sent_tokens - seen.raw_tokens,
    raw_dollars: totals.raw_dollars - seen.raw_dollars, sent_dollars: totals.sent_dollars - seen.raw_dollars,
  };
}

// The ledger keeps the start of a task; one of this length goes on.
const LONGEST = 120;
export function taskName(session) {
  if (!session.title.trim()) return "(no task text)";
  return session.title.length < LONGEST ? session.title : `${session.title.trimEnd()}…`;
}

export function steps(commit) { return commit.first === commit.last ? `${commit.first}` : `${commit.first}–${commit.last}`; }

export function ago(seconds) {
  const past = Math.max(0, Date.now() / 1000 - seconds);
  if (past < 5) return "now";
  if (past < 60) return `${Math.floor(past)} s ago`;
  if (past < 3600) return `${Math.floor(past / 60)} min ago`;
  if (past < 86400) return `${Math.floor(past / 3600)} h ago`;
  return clock(seconds).slice(0, 10);
}

export function clock(seconds) {
  const at = new Date(seconds * 1000);
  const two = (number) => String(number).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}
