// An agent for Node.js 18 and later, without packages. What it does is in service.mjs.
//
//     FAIRLEAD_API=http://127.0.0.1:7190 OUTBOX=/tmp/outbox node agent.mjs
//
// Several nodes are separated by commas. SIGTERM ends it once it holds nothing. docs/any-language.md has the rules.

import { carryOut, me } from "./service.mjs";

const { FAIRLEAD_API = "http://127.0.0.1:7190", FAIRLEAD_TOKEN: token } = process.env;
const nodes = FAIRLEAD_API.split(",").map((node) => node.replace(/\/$/, ""));
const known = { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) };
const [held, had] = [new Map(), []]; // attempts by ticket, until their outcome is accepted; the latest tickets
const [clock, gone] = [() => performance.now(), new Error("410: the session has ended")];
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const stop = (code, why) => process.exit(console.error(why) ?? code);
// Or a part of one.
const noAnswer = (why) => (console.error(nodes[0], `${why.cause ?? why}`), nodes.push(nodes.shift()), []);
let session = null, worker = null, after = 0, beats = 0, ending = false;

// Sends the same request until there is an answer; gives it, and the moment before it was sent (rule 1).
async function api(path, body, method = "POST", key = undefined) {
  for (;;) {
    const [stamp, signal] = [clock(), AbortSignal.timeout(20_000)];
    const headers = { ...known, ...(key && { "Idempotency-Key": key }) };
    const reply = fetch(nodes[0] + path, { method, headers, body: body && JSON.stringify(body), signal });
    const [answer, text] = await reply.then(async (from) => [from, await from.text()]).catch(noAnswer);
    if (answer?.ok) return [JSON.parse(text || "null"), stamp];
    if (answer?.status === 410) throw gone;
    if (answer && ![429, 502, 503, 504].includes(answer.status)) stop(1, `${path}: ${answer.status} ${text}`);
    if (ending && !held.size) stop(0, "ended without an answer");
    await sleep(1000 * Number(answer?.headers.get("Retry-After") ?? 1));
  }
}

async function work(one) {
  const left = one.heartbeat_ms ? 600_000 : Math.max(0, Math.ceil(one.end - clock())); // heartbeats prolong the lease
  const out = await carryOut(one, AbortSignal.timeout(left));
  if (clock() < one.end) one.outcome = { ticket: one.ticket, ...out }; // rule 2
}

async function roundTrip() {
  // Register (rule 7). What is sent again under the same key is the same registration.
  if (!worker) {
    const [made] = await api("/v1/workers", { ...me, session, have: [...held.keys()] }, "POST", me.instance);
    [session, worker, after] = [made.session, "/v1/workers/" + made.worker, 0];
  }

  // Report what is done (rule 4), and forget what is late (rule 2).
  const items = [...held.values()].flatMap((one) => one.outcome ?? []);
  if (items.length) for (const { ticket } of (await api(worker + "/outcomes", { items }))[0].items) held.delete(ticket);
  for (const [ticket, one] of held) if (!one.outcome && clock() > one.end) held.delete(ticket);

  // Heartbeats.
  const isDue = (one) => one.heartbeat_ms && !one.outcome && clock() > one.beat + one.heartbeat_ms / 3;
  const due = [...held.values()].filter(isDue).map(({ ticket }) => ({ ticket, sequence: ++beats }));
  const [said, sent] = due.length ? await api(worker + "/heartbeats", { items: due }) : [{ items: [] }, 0];
  for (const { ticket, held: mine, lease_ms } of said.items)
    Object.assign(held.get(ticket), { beat: sent, end: mine ? sent + lease_ms : 0 });

  // Take what there is.
  if (ending || held.size === me.capacity) return sleep(50);
  const want = { max: me.capacity - held.size, wait_ms: held.size ? 100 : 5000, after };
  const [answer, stamp] = await api(worker + "/take", want);
  after = answer.answer; // rule 3
  for (const one of answer.attempts) {
    Object.assign(one, { beat: stamp, end: stamp + answer.waited_ms + one.lease_ms }); // rule 1
    if (had.includes(one.ticket) || clock() > one.end) continue; // rules 8 and 2
    held.set(one.ticket, one);
    had.splice(0, had.push(one.ticket) - 10_000);
    work(one);
  }
  if (answer.draining) nodes.push(nodes.shift()); // another node answers 410, and gets the session
}

process.on("SIGTERM", () => (ending = true));
setInterval(() => {}, 1000); // a request that waits does not keep the process alive at each moment
const unlessGone = (why) => (why === gone ? (worker = null) : Promise.reject(why));
while (!ending || held.size) await roundTrip().catch(unlessGone);
if (worker) await api(worker, undefined, "DELETE").catch(unlessGone);
process.exit(0);
