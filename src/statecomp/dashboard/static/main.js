// Which page is shown, and keeping it true while runs go on.  Everything that agents, tools and
// models wrote is put into the page as text nodes, never as markup: it is hostile HTML.
import { overviewPage } from "./overview.js";
import { sessionPage } from "./session.js";
import { byId } from "./tools.js";

const EVERY_MS = 2000;
// A page that is long in the making is asked for less often: the proxy has other work.
const SHARE = 20;

let page = null, shown = "", timer = 0, underWay = null;

function wanted() {
  const [kind, session, , commit] = location.hash.replace(/^#\/?/, "").split("/").map((part) => {
    try { return decodeURIComponent(part); } catch { return ""; }
  });
  return kind === "session" && session ? { session, commit: commit ?? "" } : { session: "", commit: "" };
}

function show() {
  if (location.hash === "#main") return;
  const { session, commit } = wanted();
  if (page && shown === session) { page.open?.(commit); return; }
  page?.close?.();
  shown = session;
  const root = byId("page");
  root.replaceChildren();
  page = session ? sessionPage(root, session, commit) : overviewPage(root);
  window.scrollTo(0, 0);
  refresh();
}

async function refresh() {
  clearTimeout(timer);
  underWay?.abort();
  const mine = underWay = new AbortController();
  const begun = performance.now();
  try {
    await page.refresh(mine.signal);
    tell("");
  } catch (error) {
    if (error.name === "AbortError") return;
    tell(error.message);
    if (!("status" in error)) console.error(error);
  }
  if (mine !== underWay) return;
  document.documentElement.dataset.drawn = "yes";
  if (!document.hidden) timer = setTimeout(refresh, Math.max(EVERY_MS, SHARE * (performance.now() - begun)));
}

function tell(trouble) {
  const banner = byId("banner"), pulse = byId("pulse");
  if (banner.hidden !== !trouble) banner.hidden = !trouble;
  const text = trouble ? `${trouble} What is shown may be old; asking again every ${EVERY_MS / 1000} s.` : "";
  if (banner.textContent !== text) banner.textContent = text;
  const state = trouble ? "not connected" : "live";
  if (pulse.textContent !== state) pulse.textContent = state;
  pulse.classList.toggle("off", Boolean(trouble));
  pulse.classList.toggle("on", !trouble);
}

window.addEventListener("hashchange", show);
document.addEventListener("visibilitychange", () => {
  if (document.hidden) clearTimeout(timer);
  else refresh();
});
window.addEventListener("statecomp-changed", refresh);
setInterval(() => page?.tick?.(), 5000);
show();
