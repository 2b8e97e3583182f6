// Submits a task and waits for its end, for Node.js 18 and later, without packages.
//
//     FAIRLEAD_API=http://127.0.0.1:7190 node client.mjs WORKFLOW ID [INPUT]
//
// Ends with 0 when the task is completed. The id makes it safe to run again: the same id is one task.

const { FAIRLEAD_API = "http://127.0.0.1:7190", FAIRLEAD_TOKEN } = process.env;
const nodes = FAIRLEAD_API.split(",").map((node) => node.replace(/\/$/, ""));
const [workflow, id, input = "null"] = process.argv.slice(2);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// Sends the same request until there is an answer; the next node is asked when one is lost.
async function api(method, path, body) {
  for (;;) {
    let pause = 1000;
    try {
      const headers = { "Content-Type": "application/json", ...(FAIRLEAD_TOKEN && { Authorization: `Bearer ${FAIRLEAD_TOKEN}` }) };
      const answer = await fetch(nodes[0] + path, { method, headers, body, signal: AbortSignal.timeout(70_000) });
      const text = await answer.text();
      if (answer.ok) return JSON.parse(text);
      if (![429, 502, 503, 504].includes(answer.status)) {
        console.error(`${answer.status} ${text}`);
        process.exit(1);
      }
      pause = 1000 * Number(answer.headers.get("Retry-After") ?? 1);
    } catch (why) {
      console.error(nodes[0], String(why.cause ?? why));
      nodes.push(nodes.shift());
    }
    await sleep(pause);
  }
}

if (!id) {
  console.error("usage: node client.mjs WORKFLOW ID [INPUT]");
  process.exit(2);
}
const body = JSON.stringify({ workflow, input: JSON.parse(input) });
const path = `/v1/tasks/${encodeURIComponent(id)}?wait=30s`;
setInterval(() => {}, 1000); // a request that waits does not keep the process alive at each moment
let task;
do task = await api("PUT", path, body);
while (!["completed", "undone", "failed"].includes(task.state) && !task.parked);
console.log(id, task.state, task.reason);
process.exit(task.state === "completed" ? 0 : 1);
