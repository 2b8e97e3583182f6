// Has agent.mjs of docs/examples/workers, which is run as it is, write down what it holds: see watched_agents.py.

import { appendFileSync } from "node:fs";

const parse = JSON.parse;
const stringify = JSON.stringify;
// CLOCK_MONOTONIC at the zero of performance.now(), in ns.
const zero = Number(process.hrtime.bigint()) - performance.now() * 1e6;

function note(what, ticket, more) {
  const line = { at: Math.round(zero + performance.now() * 1e6), pid: process.pid, what, ticket, ...more };
  appendFileSync(process.env.WATCH_LOG, stringify(line) + "\n");
}

function watched(name, on, set) {
  let value;
  Object.defineProperty(on, name, { enumerable: true, get: () => value, set: (given) => set((value = given)) });
}

function seen(one) {
  if (typeof one?.ticket !== "string") return one;
  const { ticket, task, step, direction, attempt } = one;
  if ("result" in one) note("result", ticket, { result: one.result });
  if ("held" in one && !one.held) note("refused", ticket, {});
  if ("direction" in one) {
    watched("end", one, (end) => end && note("lease", ticket, { task, step, direction, attempt, end: Math.round(zero + end * 1e6) }));
    watched("outcome", one, (out) => note("told", ticket, { kind: ["output", "fault", "verdict"].find((kind) => kind in out) ?? null }));
  }
  return one;
}

JSON.parse = (text) => parse(text, (_, value) => seen(value));
