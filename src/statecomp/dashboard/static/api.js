// Asking the proxy.  Tags are kept here, so that nothing of a session is written to a disk cache.

export class Failure extends Error {
  constructor(message, status) { super(message); this.status = status; }
}

const tags = new Map();

// The answer, or null where it is as it was.
export async function ask(name, query, signal) {
  const headers = tags.has(name) ? { "if-none-match": tags.get(name) } : {};
  const response = await reach(`api/${name}${query ?? ""}`, { headers, signal });
  if (response.status === 304) return null;
  const value = await read(response);
  tags.set(name, response.headers.get("etag"));
  return value;
}
export function forget(name) { tags.delete(name); }

export async function undo(commit) {
  return read(await reach(`api/commits/${encodeURIComponent(commit)}/undo`, { method: "POST", headers: { "x-statecomp": "1" } }));
}

export async function use(router) {
  return read(await reach(`api/routers/${encodeURIComponent(router)}/use`, { method: "POST", headers: { "x-statecomp": "1" } }));
}

export async function back() {
  return read(await reach("api/routers/back", { method: "POST", headers: { "x-statecomp": "1" } }));
}

async function reach(path, options) {
  try {
    return await fetch(path, { cache: "no-store", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure("The proxy does not answer.", 0);
  }
}
async function read(response) {
  const value = await response.json().catch(() => null);
  if (response.ok && value) return value;
  if (response.status === 401) throw new Failure("A token for pages is needed: open /t/TOKEN/statecomp/ once, with the administrator's, or with your own from /statecomp/own.", 401);
  const said = typeof value?.error === "string" ? value.error : value?.error?.message;
  throw new Failure(said ?? `The proxy answered ${response.status}.`, response.status);
}
