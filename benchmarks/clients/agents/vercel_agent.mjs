// The Vercel AI SDK's own loop over the Responses API, with the history kept here (store: false).
// Four tools as somebody writes them for an agent of their own; they work in the current folder.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const [folder, url, model, task, effort] = process.argv.slice(2);
const installed = createRequire(`${folder}/`);
const { generateText, stepCountIs, tool } = installed("ai");
const { createOpenAI } = installed("@ai-sdk/openai");
const { z } = installed("zod");

const MOST = 20_000;

function output(command, ...words) {
  try {
    const said = execFileSync(command, words, { encoding: "utf8", timeout: 60_000, stdio: "pipe" });
    return said.slice(0, MOST) || "(nothing, exit code 0)";
  } catch (error) {
    const said = `${error.stdout ?? ""}${error.stderr ?? ""}`;
    return said.slice(0, MOST) || `(nothing, exit code ${error.status})`;
  }
}

function read({ path, first, lines }) {
  const all = readFileSync(path, "utf8").split("\n");
  return all.slice(first - 1, lines ? first - 1 + lines : undefined).join("\n");
}

function replace({ path, old, new: text }) {
  const whole = readFileSync(path, "utf8");
  const count = whole.split(old).length - 1;
  if (count !== 1) return `error: the text stands there ${count} times`;
  writeFileSync(path, whole.replace(old, () => text));
  return `${path} was changed`;
}

const made = (description, shape, execute) =>
  tool({ description, inputSchema: z.object(shape), execute });

const tools = {
  read_file: made(
    "Read a text file.",
    { path: z.string(), first: z.number(), lines: z.number() },
    read,
  ),
  search: made(
    "Find a word in all Python files below a folder.",
    { pattern: z.string(), folder: z.string() },
    ({ pattern, folder }) => output("grep", "-rnw", "--include=*.py", pattern, folder),
  ),
  run: made("Run a shell command and return what it prints.", { command: z.string() }, (given) =>
    output("sh", "-c", given.command),
  ),
  replace: made(
    "Replace the one place where a text stands in a file.",
    { path: z.string(), old: z.string(), new: z.string() },
    replace,
  ),
};

const options = effort ? { store: false, reasoningEffort: effort } : { store: false };
const done = await generateText({
  model: createOpenAI({ baseURL: `${url}/v1` })(model),
  system: "You are a careful engineer. You tell the user what you did when you are done.",
  prompt: task,
  tools,
  stopWhen: stepCountIs(10_000),
  providerOptions: { openai: options },
});
console.log(done.text);
