// An agent for Node.js 18 and later, without packages. Its call `send` writes a line to the file OUTBOX, or posts to SERVICE_URL.
//
//     FAIRLEAD_API=http://127.0.0.1:7190 OUTBOX=/tmp/outbox node agent.mjs
//
// Several nodes are separated by commas. SIGTERM ends it once it holds nothing. The rules are those of docs/any-language.md.

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";

const { FAIRLEAD_API = "http://127.0.0.1:7190", FAIRLEAD_TOKEN, OUTBOX, SERVICE_URL } = process.env;
const nodes = FAIRLEAD_API.split(",");
const capacity = 4;
const started = `${process.pid}-${Date.now()}`;
const me = { agent: "mail", instance: `mail-${hostname()}-${started}`, calls: ["send"], lookups: ["send"], capacity }; // rule 8
const held = new Map(); // by ticket, until the outcome is accepted
const had = new Set(); // tickets of the latest attempts
const clock = () => performance.now();
const within = (end) => AbortSignal.timeout(Math.max(0, Math.ceil(end - clock()))); // it takes whole milliseconds
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
let session = null, worker = "", after = 0, ending = false;

class Gone extends Error {}

// Sends the same request until there is an answer; gives it, and the moment before it was sent (rule 1).
async function api(path, body, method = "POST", more = {}) {
  for (;;) {
    const stamp = clock();
    let pause = 1000;
    try {
      const headers = { ...(body && { "Content-Type": "application/json" }), ...(FAIRLEAD_TOKEN && { Authorization: `Bearer ${FAIRLEAD_TOKEN}` }), ...more };
      const answer = await fetch(nodes[0] + path, { method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(20_000) });
      const text = await answer.text();
      if (answer.ok) return [JSON.parse(text || "null"), stamp];
      if (answer.status === 410) throw new Gone();
      if (![429, 502, 503, 504].includes(answer.status)) {
        console.error(`${path}: ${answer.status} ${text}`);
        process.exit(1);
      }
      pause = 1000 * Number(answer.headers.get("Retry-After") ?? 1);
    } catch (why) {
      if (why instanceof Gone) throw why;
      nodes.push(nodes.shift());
    }
    await sleep(pause);
  }
}

// The first one may be sent again: its key makes it the same registration.
async function register() {
  const key = session ? {} : { "Idempotency-Key": started };
  const [made] = await api("/v1/workers", { ...me, session, have: [...held.keys()] }, "POST", key); // rule 7
  [session, worker, after] = [made.session, "/v1/workers/" + made.worker, 0];
}

const outboxHas = (key) =>
  existsSync(OUTBOX) && readFileSync(OUTBOX, "utf8").split("\n").some((line) => line && JSON.parse(line)[0] === key);

async function send({ idempotency_key: key, input, in_doubt, end }) { // rule 5
  if (SERVICE_URL) {
    const headers = { "Content-Type": "application/json", "Idempotency-Key": key };
    const answer = await fetch(SERVICE_URL, { method: "POST", headers, body: JSON.stringify(input), signal: within(end) });
    await answer.text();
    const kind = [429, 503].includes(answer.status) ? "transient" : answer.status < 500 ? "permanent" : "in_doubt";
    if (!answer.ok) return { fault: { kind, code: `http_${answer.status}` } };
  } else if (!in_doubt || !outboxHas(key)) {
    appendFileSync(OUTBOX, JSON.stringify([key, input]) + "\n");
  }
  return { output: { sent: true, to: input?.to ?? null } };
}

async function lookUp({ perform_key: key, end }) {
  if (!SERVICE_URL) return { verdict: outboxHas(key) ? "done" : "never_happened" };
  const answer = await fetch(`${SERVICE_URL}?key=${encodeURIComponent(key)}`, { signal: within(end) });
  const text = await answer.text();
  return answer.ok ? { verdict: "done", output: JSON.parse(text) } : { verdict: answer.status === 410 ? "never_happened" : "unknown" };
}

async function work(one) {
  const asks = one.direction === "lookup";
  const out = await (asks ? lookUp : send)(one).catch((why) => // rule 6: it may have been sent
    asks ? { verdict: "unknown" } : { fault: { kind: "in_doubt", code: "no_answer", message: String(why) } });
  if (clock() < one.end) one.outcome = { ticket: one.ticket, ...out }; // rule 2
}

async function beat() {
  const due = [...held.values()].filter((one) => one.heartbeat_ms && !one.outcome && clock() > one.beat + one.heartbeat_ms / 3);
  if (!due.length) return;
  const [answer, stamp] = await api(worker + "/heartbeats", { items: due.map((one) => ({ ticket: one.ticket, sequence: Date.now() })) });
  for (const { ticket, held: mine, lease_ms } of answer.items) Object.assign(held.get(ticket), { beat: stamp, end: mine ? stamp + lease_ms : 0 });
}

// Reports what is done, and takes what there is.
async function roundTrip() {
  const items = [...held.values()].flatMap((one) => one.outcome ?? []);
  if (items.length) for (const { ticket } of (await api(worker + "/outcomes", { items }))[0].items) held.delete(ticket); // rule 4
  for (const [ticket, one] of held) if (!one.outcome && clock() > one.end) held.delete(ticket);
  await beat();
  if (ending || held.size >= capacity) return sleep(50);
  const [answer, stamp] = await api(worker + "/take", { max: capacity - held.size, wait_ms: held.size ? 100 : 5000, after });
  after = answer.answer; // rule 3
  for (const one of answer.attempts) {
    one.end = (one.beat = stamp) + answer.waited_ms + one.lease_ms; // rule 1
    if (had.has(one.ticket) || clock() > one.end) continue; // rules 8 and 2
    held.set(one.ticket, one);
    had.add(one.ticket);
    if (had.size > 10_000) had.delete(had.values().next().value);
    work(one);
  }
  if (answer.draining) nodes.push(nodes.shift()), await sleep(200); // another node answers 410, and gets the session
}

const unlessGone = (what, otherwise) => what.catch((why) => (why instanceof Gone ? otherwise() : Promise.reject(why)));

const alive = setInterval(() => {}, 1000); // a request that waits does not keep the process alive at each moment
process.on("SIGTERM", () => (ending = true));
await register();
while (!ending || held.size) await unlessGone(roundTrip(), register);
await unlessGone(api(worker, undefined, "DELETE"), () => {});
clearInterval(alive);
