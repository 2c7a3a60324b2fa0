/**
 * Sends a storm of webhooks from a process of its own, each over a connection that is open already, and
 * prints what came back as JSON. The payloads have the size of real ones. Bytes over sockets, because
 * an HTTP client would take longer for its part than the service does.
 */
import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
import process from "node:process";
import examplesOf from "@octokit/webhooks-examples/api.github.com/index.json" with { type: "json" };
import { githubPush, signed } from "../fakes/webhook_requests.ts";

const [place = "", secret = "", count = "0", repositories = "1"] = process.argv.slice(2);
const url = new URL(place);

const events = examplesOf as readonly { readonly name: string; readonly examples: object[] }[];
const example = events.find(({ name }) => name === "push")?.examples[0] as {
  readonly repository: object;
};

/** What GitHub sent once, about another repository. */
function payloadOf(name: string): object {
  const own = githubPush({ name });
  const repository = { ...example.repository, ...own["repository"] as object };
  return { ...example, ...own, repository };
}

function requestOf(index: number): Buffer {
  const payload = payloadOf(`acme/shop${index % Number(repositories)}`);
  const { headers, body } = signed("github", { event: "push", payload, secret });
  const lines = Object.entries({
    ...headers,
    Host: url.host,
    "Content-Length": `${Buffer.byteLength(body)}`,
  })
    .map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${url.pathname} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
}

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(url.port), url.hostname, () => resolve(socket));
    socket.setNoDelay(true).setEncoding("utf8").on("error", reject);
  });
}

/** Resolves with status and run when the answer is whole. */
function exchange(socket: Socket, request: Buffer) {
  return new Promise<{ status: number; job: string | undefined; milliseconds: number }>((done) => {
    const began = performance.now();
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
      if (!/\r\n\r\n\{.*\}\n?$/s.test(text)) return;
      const milliseconds = performance.now() - began;
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
      done({ status, job: /"job_id":"([^"]+)"/.exec(text)?.[1], milliseconds });
      socket.destroy();
    });
    socket.write(request);
  });
}

const requests = Array.from({ length: Number(count) }, (_, index) => requestOf(index));
const sockets = await Promise.all(requests.map(open));
const answers = await Promise.all(
  sockets.map((socket, index) => exchange(socket, requests[index] ?? Buffer.alloc(0))),
);
process.stdout.write(JSON.stringify(answers));
