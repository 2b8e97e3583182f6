// Who the agent is, and what it does: put your code here.
//
// The call `send` appends a line to the file OUTBOX, or posts to SERVICE_URL.

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";

const { OUTBOX, SERVICE_URL } = process.env;
if (!OUTBOX && !SERVICE_URL) {
  console.error("set OUTBOX to a file, or SERVICE_URL to a service");
  process.exit(1);
}
const instance = `${hostname().slice(0, 30)}-${process.pid}-${Date.now()}`; // rule 8: one process for each name
const [calls, lookups] = [{ send }, { send: lookUp }];
export const me = { agent: "mail", instance, calls: Object.keys(calls), lookups: Object.keys(lookups), capacity: 4 };

// How an attempt ended; `signal` says when there is no more time.
export async function carryOut(one, signal) {
  const isLookup = one.direction === "lookup";
  try {
    return await (isLookup ? lookups : calls)[one.call](one, signal);
  } catch (why) { // rule 6: it may have happened
    const doubt = { kind: "in_doubt", code: "no_answer", message: String(why) };
    return isLookup ? { verdict: "unknown" } : { fault: doubt };
  }
}

const outboxHas = (key) =>
  existsSync(OUTBOX) && readFileSync(OUTBOX, "utf8").split("\n").some((line) => line && JSON.parse(line)[0] === key);

// An undo has a key of its own, and is sent to a path of its own.
async function send({ idempotency_key: key, direction, input }, signal) { // rule 5
  const isUndo = direction === "undo";
  if (SERVICE_URL) {
    const headers = { "Content-Type": "application/json", "Idempotency-Key": key };
    const to = SERVICE_URL + (isUndo ? "/undo" : "");
    const answer = await fetch(to, { method: "POST", headers, body: JSON.stringify(input), signal });
    await answer.text();
    const kind = [429, 503].includes(answer.status) ? "transient" : answer.status < 500 ? "permanent" : "in_doubt";
    if (!answer.ok) return { fault: { kind, code: `http_${answer.status}` } };
  } else if (!outboxHas(key)) {
    appendFileSync(OUTBOX, JSON.stringify([key, direction, input]) + "\n");
  }
  return { output: { sent: !isUndo, to: input?.to ?? null } };
}

async function lookUp({ perform_key: key }, signal) {
  if (!SERVICE_URL) return { verdict: outboxHas(key) ? "done" : "never_happened" };
  const answer = await fetch(`${SERVICE_URL}?key=${encodeURIComponent(key)}`, { signal });
  const text = await answer.text();
  if (answer.ok) return { verdict: "done", output: JSON.parse(text) };
  return { verdict: answer.status === 410 ? "never_happened" : "unknown" };
}
