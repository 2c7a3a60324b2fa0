import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { freePort } from "../fakes/free_port.ts";
import { type GitHttpServer, startGitHttpServer } from "../fakes/git_http_server.ts";
import { createRepository, type FakeRepository } from "../fakes/git_repository.ts";
import { githubPush, signed } from "../fakes/webhook_requests.ts";
import { composeFile, configFile, service } from "../flow/compose_text.ts";
import { API_KEY, createWorld, engines, type RunBody, type World } from "../flow/world.ts";
import { executables, ServiceProcess } from "./service_process.ts";

/** What senders and other repositories may never do to a service: the compiled executable, the real engine. */
const [PROGRAM] = executables();
const skip = PROGRAM === undefined || !(await engines()).includes("real");

const TOKEN = "token-of-the-service-4711";
const SECRET = "secret-of-the-webhooks-4711";
const LOGIN = `oauth2:${TOKEN}`;

/** A run with the repository it is about. */
type Shown = RunBody & { readonly repository?: string };

let world: World;
let running: ServiceProcess;
let port: number;
/** The Git server whose repository is polled, and one on another port of the same host. */
let polled: GitHttpServer;
let other: GitHttpServer;

async function ask(path: string, init: RequestInit = {}): Promise<unknown> {
  const headers = { "x-api-key": API_KEY, "content-type": "application/json", ...init.headers };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { ...init, headers });
  return await answer.json();
}

/** The run that an answer names. */
async function runOf(answer: unknown): Promise<Shown> {
  const { job_id: id } = answer as { readonly job_id?: string };
  assert.ok(id !== undefined, JSON.stringify(answer));
  const { content } = await ask(`/v1/api/run/${id}`) as { readonly content: Shown };
  return content;
}

async function poll(url: string): Promise<Shown> {
  const body = JSON.stringify([{ url, reference: "main" }]);
  return await runOf(await ask("/v1/api/poll/run", { method: "POST", body }));
}

/** Sends a signed push, with other headers where they are given, and waits for its run. */
async function push(payload: unknown, headers: Readonly<Record<string, string>> = {}) {
  const sent = signed("github", { event: "push", payload, secret: SECRET });
  const init = { method: "POST", headers: { ...sent.headers, ...headers }, body: sent.body };
  return await runOf(await ask("/v1/webhook?wait=true", init));
}

const repositoryOf = ({ origin }: GitHttpServer) => `${origin}/remote.git`;
const nameOf = (server: GitHttpServer) => `127.0.0.1_${server.port}/remote`;

async function commit(repository: FakeRepository, name: string, dotenv = ""): Promise<void> {
  await repository.commit({
    ".stackwright.yaml": configFile({ name }),
    "compose.yaml": composeFile({ web: service() }),
    ".env": dotenv,
  });
}

describe("hostile clients before the executable", { skip }, () => {
  before(async () => {
    world = await createWorld({ engine: "real" });
    await world.stop();
    const root = join(world.repository.path, "..");
    [polled, other] = [
      await startGitHttpServer({ root, login: LOGIN }),
      await startGitHttpServer({
        root,
        login: LOGIN,
      }),
    ];
    port = await freePort();
    assert.ok(PROGRAM);
    running = new ServiceProcess(PROGRAM, ["serve"], {
      ...world.env,
      WEBHOOK_SECRET: SECRET,
      GIT_ACCESS_TOKEN: TOKEN,
      SSH_PRIVATE_KEY: "no key, but one that is set",
      POLL_CONFIG: `- {url: ${JSON.stringify(repositoryOf(polled))}, interval: 86400}`,
      HTTP_HOST: "127.0.0.1",
      HTTP_PORT: String(port),
      METRICS_PORT: String(await freePort()),
      LOG_LEVEL: "debug",
      LOG_FORMAT: "json",
    });
    await commit(world.repository, world.stack);
    await running.until(() => running.stderr.includes("listening on"));
  });
  after(async () => {
    await running.stop();
    await Promise.all([polled.close(), other.close()]);
    await world.close();
  });

  it("get no token sent to another port of a polled host", async () => {
    assert.notEqual((await poll(repositoryOf(polled))).status, "failed");
    assert.equal((await poll(repositoryOf(other))).status, "failed");
    assert.ok(polled.seen.some(({ authorization }) => authorization !== ""));
    assert.deepEqual([...new Set(other.seen.map((each) => each.authorization))], [""]);
  });

  it("get nothing deployed from one repository in the name of another", async () => {
    const ssh = `ssh://git@127.0.0.1:${await freePort()}/evil/shop.git`;
    const run = await push({
      ...githubPush(),
      repository: { full_name: "acme/shop", clone_url: repositoryOf(other), ssh_url: ssh },
    });
    assert.equal(run.status, "failed");
    assert.match(run.repository ?? "", /evil\/shop$/, JSON.stringify(run));
  });

  it("get signed JSON read as JSON, whatever an unsigned header says", async () => {
    const hidden = encodeURIComponent(JSON.stringify(githubPush({ name: "evil/shop" })));
    const run = await push(
      {
        ...githubPush(),
        repository: { full_name: "acme/shop", clone_url: repositoryOf(polled) },
        note: `&payload=${hidden}&x=`,
      },
      { "content-type": "application/x-www-form-urlencoded" },
    );
    assert.equal(run.repository, nameOf(polled), JSON.stringify(run));
  });

  it("push out each other with bodies that are half sent, and nobody else", async () => {
    const sockets: Socket[] = [];
    try {
      // Sixty of 900 kB are more than all of them together may have.
      const piece = new Uint8Array(900_000).fill(32);
      const head = "POST /v1/webhook HTTP/1.1\r\nHost: x\r\nX-GitHub-Event: push\r\n" +
        "X-Hub-Signature-256: sha256=00\r\nContent-Type: application/json\r\n" +
        "Content-Length: 1000000\r\n\r\n";
      const answers = Array.from({ length: 60 }, () => {
        const socket = connect(port, "127.0.0.1");
        sockets.push(socket);
        socket.write(head);
        socket.write(piece);
        return new Promise<void>((resolve, reject) => {
          let heard = "";
          socket.on("data", (chunk) => {
            heard += String(chunk);
            if (/too many requests are half sent/.test(heard)) resolve();
          });
          // An answer may be lost when the connection of a client that goes on sending is closed.
          socket.on("error", reject);
          socket.on("close", () => reject(new Error(heard)));
        });
      });
      await Promise.any(answers);
      assert.notEqual((await poll(repositoryOf(polled))).status, "failed");
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });

  it("get no success for an answer to a body in thousands of tiny pieces", async () => {
    const head = "POST /v1/webhook HTTP/1.1\r\nHost: x\r\nX-GitHub-Event: push\r\n" +
      "X-Hub-Signature-256: sha256=00\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (let tries = 0; tries < 40; tries++) {
      const heard = await new Promise<string>((resolve) => {
        const socket = connect(port, "127.0.0.1");
        let text = "";
        socket.on("data", (chunk) => text += String(chunk));
        socket.on("error", () => {});
        socket.on("close", () => resolve(text));
        socket.write(head + "1\r\na\r\n".repeat(8000));
      });
      assert.doesNotMatch(heard, /^HTTP\/1\.1 2/);
    }
  });

  it("do not decide what is said of others by what their repositories call secrets", async () => {
    const thief = await createRepository(join(world.dataDir, "../thief"));
    const said = ["changes", "inputs", "unchanged", "deployment", "services", "nosuch"];
    const structural = ["succeeded", "skipped", "info", world.stack, "default", '","level":"', "{"];
    const words = [...said, ...structural];
    const names = words.map((word, at) => `A${at}_PASSWORD='${word}'\n`);
    await commit(thief, `${world.stack}-thief`, names.join(""));
    const theirs = await poll(thief.url);
    assert.equal(theirs.status, "succeeded", JSON.stringify(theirs));
    assert.match(JSON.stringify(theirs), /first \*\*\*/, "this test has nothing to show otherwise");
    await commit(world.repository, world.stack, "A=changed\n");
    const run = await poll(repositoryOf(polled));
    assert.ok(["succeeded", "skipped"].includes(run.status), JSON.stringify(run));
    assert.deepEqual(run.deployments?.map((each) => each.stack), [world.stack]);
    assert.match(JSON.stringify(run), /no changes.*its inputs are unchanged/);
    const stacks = JSON.stringify(await ask("/v1/api/deployments"));
    assert.ok(stacks.includes(`"${world.stack}"`), stacks);
    // A line of the service's log says why ours fails.
    const broken = configFile({ name: world.stack, compose_files: ["nosuch.yaml"] });
    await world.repository.commit({ ".stackwright.yaml": broken });
    assert.equal((await poll(repositoryOf(polled))).status, "failed");
    const lines = running.stderr.split("\n").slice(0, -1).map((line) => JSON.parse(line));
    const ours = lines.filter((line) => line.stack === world.stack);
    assert.ok(ours.length > 0, "nothing about ours is in the log");
    assert.doesNotMatch(JSON.stringify(ours), /\*\*\*/);
    assert.match(JSON.stringify(ours), /nosuch\.yaml/);
    for (const { level, time } of lines) {
      assert.match(level, /^(?:debug|info|warning|error|critical)$/);
      assert.ok(Number.isFinite(Date.parse(time)), time);
    }
  });
});
