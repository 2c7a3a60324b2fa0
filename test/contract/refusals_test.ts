/** Who has no business here: refused at once, cheaply, and nothing of it is kept. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, it } from "node:test";
import { type App, startApp } from "../../src/app.ts";
import { readSettings } from "../../src/settings/mod.ts";
import {
  createRedactor,
  type Log,
  systemClock,
  systemCommands,
  systemFiles,
} from "../../src/system/mod.ts";
import { createFakeEngine, type FakeEngine } from "../fakes/fake_engine.ts";
import { heapAfterCollection } from "../fakes/heap.ts";
import { createRecordingLog } from "../fakes/recording_log.ts";
import { githubPush, gitlabPush, type Sender, signed } from "../fakes/webhook_requests.ts";
import { rawClient } from "./raw_client.ts";

const API_KEY = "key-of-the-refusals";
const SECRET = "secret-of-the-refusals";
const MOST = 4096;

describe("a service that strangers talk to", () => {
  let directory = "";
  let engine: FakeEngine;
  let app: App;
  const log = createRecordingLog();

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "stackwright-refusals-"));
    await mkdir(join(directory, "data"));
    engine = await createFakeEngine({ socketPath: join(directory, "engine.sock") });
    const env = {
      PATH: process.env["PATH"] ?? "",
      HOME: directory,
      DATA_DIR: join(directory, "data"),
      API_SECRET: API_KEY,
      WEBHOOK_SECRET: SECRET,
      MAX_PAYLOAD_SIZE: `${MOST}`,
      DOCKER_HOST: engine.host,
    };
    const settings = readSettings(env, () => "", { uid: 0 });
    const http = { ...settings.http, port: 0, metricsPort: 0 };
    app = await startApp({ ...settings, http }, {
      clock: systemClock,
      commands: systemCommands,
      files: systemFiles,
      log: withoutDebug(log),
      redactor: createRedactor(),
      env,
      hostname: "127.0.0.1",
      version: "0.0.0-refusals",
    });
    await app.polled;
  });

  after(async () => {
    await app.close();
    await engine.close();
    await rm(directory, { recursive: true, force: true });
  });

  /** All that is kept: runs, rows of the ledger, files, series of metrics, lines of the log. */
  const kept = async () => {
    const runs = await fetch(`${app.url}/v1/api/runs?limit=200`, {
      headers: { "x-api-key": API_KEY },
    });
    const metrics = await (await fetch(`${app.metricsUrl}/metrics`)).text();
    return {
      runs: (await runs.json()).content,
      ledger: rowsOf(join(directory, "data", "state.db")),
      files: (await readdir(join(directory, "data"), { recursive: true })).sort(),
      series: metrics.split("\n").filter((line) => line.startsWith("service_")),
      lines: [...log.lines],
      calls: engine.requests.length,
    };
  };

  const withoutTrace = async (act: () => Promise<void>) => {
    const before = await kept();
    await act();
    assert.deepEqual(await kept(), before);
  };

  const raw = async (...pieces: string[]) => {
    const client = await rawClient({ port: Number(new URL(app.url).port) });
    for (const piece of pieces) client.send(piece);
    return client;
  };

  it("can tell when something was kept", async () => {
    const before = await kept();
    const { headers, body } = signed("github", {
      event: "ping",
      payload: githubPush(),
      secret: SECRET,
    });
    const answer = await fetch(`${app.url}/v1/webhook`, { method: "POST", headers, body });
    assert.equal(answer.status, 202);
    const now = await kept();
    assert.notDeepEqual(now.runs, before.runs);
    assert.notDeepEqual(now.series, before.series);
    assert.notDeepEqual(now.lines, before.lines);
  });

  const keys: Record<string, string>[] = [
    {},
    { "x-api-key": "" },
    { "x-api-key": "wrong" },
    { "x-api-key": SECRET },
    { "x-api-key": `${API_KEY}x` },
    { "x-api-key": API_KEY.slice(0, -1) },
    { "x-api-key": API_KEY.toUpperCase() },
    { authorization: `Bearer ${API_KEY}` },
    { cookie: `x-api-key=${API_KEY}` },
  ];
  const routes: [string, string][] = [
    ["GET", "/v1/api/runs"],
    ["GET", "/v1/api/run/x"],
    ["POST", "/v1/api/poll/run"],
    ["GET", "/v1/api/projects"],
    ["GET", "/v1/api/project/x"],
    ["DELETE", "/v1/api/project/x?volumes=true"],
    ["POST", "/v1/api/project/x/stop"],
  ];
  for (const [method, path] of routes) {
    it(`${method} ${path} with a wrong key is 401`, () =>
      withoutTrace(async () => {
        for (const headers of keys) {
          const answer = await fetch(app.url + path, { method, headers });
          assert.equal(answer.status, 401, JSON.stringify(headers));
          await answer.body?.cancel();
        }
      }));
  }

  const senders: [Sender, string, unknown][] = [
    ["github", "push", githubPush()],
    ["gitea", "push", githubPush()],
    ["gogs", "push", githubPush()],
    ["forgejo", "push", githubPush()],
    ["gitlab", "Push Hook", gitlabPush()],
    ["bitbucket", "repo:push", {}],
    ["azure", "", {}],
    ["oci", "push", {}],
  ];
  for (const [sender, event, payload] of senders) {
    it(`a webhook of ${sender} with another secret is 401`, () =>
      withoutTrace(async () => {
        for (const secret of ["", "wrong", API_KEY, `${SECRET}x`, SECRET.toUpperCase()]) {
          const { headers, body } = signed(sender, { event, payload, secret });
          const answer = await fetch(`${app.url}/v1/webhook`, { method: "POST", headers, body });
          assert.equal(answer.status, 401, secret);
          await answer.body?.cancel();
        }
      }));
  }

  const push = signed("github", { event: "push", payload: githubPush(), secret: SECRET });
  const head = (...more: string[]) =>
    [
      "POST /v1/webhook HTTP/1.1",
      "Host: x",
      ...Object.entries(push.headers).map(([name, value]) => `${name}: ${value}`),
      ...more,
      "",
      "",
    ].join("\r\n");
  const length = (by: number) => `Content-Length: ${push.body.length + by}`;
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
  const signatures: [string, string[], RegExp][] = [
    ["a body that was changed under way", [
      head(length(0)),
      push.body.replace("acme", "evil"),
    ], /^HTTP\/1\.1 401 /],
    ["a body with a byte more than was signed", [
      head(length(1)),
      `${push.body} `,
    ], /^HTTP\/1\.1 401 /],
    ["a signature for two requests' bodies", [
      head("Transfer-Encoding: chunked"),
      chunk(push.body) + chunk(push.body) + "0\r\n\r\n",
    ], /^HTTP\/1\.1 401 /],
    ["a body that says it is too large", [head(length(MOST))], /^HTTP\/1\.1 413 /],
    ["chunks that become too large", [
      head("Transfer-Encoding: chunked"),
      chunk("x".repeat(MOST)),
      chunk("x".repeat(MOST)),
    ], /^HTTP\/1\.1 413 /],
  ];
  for (const [what, pieces, answer] of signatures) {
    it(`${what} is refused`, () =>
      withoutTrace(async () => {
        const client = await raw(...pieces);
        assert.match(await client.until(/\}/), answer);
        client.destroy();
      }));
  }

  const cut: [string, string[]][] = [
    ["a body that ends early", [head(length(0)), push.body.slice(0, -1)]],
    ["a body that is one byte longer than it says", [head(length(-1)), push.body]],
    ["chunks that end early", [head("Transfer-Encoding: chunked"), chunk(push.body)]],
    ["chunks that are followed by garbage", [
      head("Transfer-Encoding: chunked"),
      `${chunk(push.body)}zz\r\n\r\n`,
    ]],
    ["headers that end early", [head(length(0)).slice(0, -2)]],
    ["headers that are too large", [head(`X-Flood: ${"x".repeat(20_000)}`), push.body]],
    ["headers without end", [head(...Array(20_000).fill("X-Flood: 1")), push.body]],
  ];
  for (const [what, pieces] of cut) {
    it(`${what} comes to nothing`, () =>
      withoutTrace(async () => {
        const client = await raw(...pieces);
        client.end();
        assert.doesNotMatch(await client.closed, /^HTTP\/1\.1 2/);
      }));
  }

  it("5,000 refused requests leave no memory behind", () =>
    withoutTrace(async () => {
      const wrong = signed("github", { event: "push", payload: githubPush(), secret: "wrong" });
      const webhook = { method: "POST", headers: wrong.headers, body: wrong.body };
      const round = async () => {
        for (let sent = 0; sent < 5_000; sent += 50) {
          const answers = await Promise.all(Array.from({ length: 50 }, (_, index) =>
            index % 2 === 0
              ? fetch(`${app.url}/v1/webhook/t${sent + index}`, webhook)
              : fetch(`${app.url}/v1/api/run/${sent + index}`)));
          for (const answer of answers) {
            assert.equal(answer.status, 401);
            await answer.text();
          }
        }
        return await heapAfterCollection();
      };
      const first = await round();
      const second = await round();
      assert.ok(second - first < 5_000 * 200, `${first} bytes, then ${second}`);
    }));
});

/** Strangers may be told of at level debug, which nobody keeps. */
function withoutDebug(log: Log): Log {
  return { ...log, debug: () => {}, with: (fields) => withoutDebug(log.with(fields)) };
}

/** Number of rows of each table. */
function rowsOf(path: string): Record<string, unknown> {
  const database = new DatabaseSync(path);
  try {
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    return Object.fromEntries(tables.map(({ name }) => [
      String(name),
      Number(database.prepare(`SELECT count(*) AS rows FROM "${name}"`).get()?.["rows"]),
    ]));
  } finally {
    database.close();
  }
}
