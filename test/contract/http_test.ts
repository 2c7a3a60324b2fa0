import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, describe, it } from "node:test";
import { describedOperations } from "../../src/api/mod.ts";
import type { Execute } from "../../src/intake.ts";
import { type RunTarget, StackwrightError } from "../../src/model/mod.ts";
import { restRoutes } from "../../src/serve/rest.ts";
import { settle } from "../fakes/fake_clock.ts";
import { createMemoryEngine, runningContainer } from "../fakes/memory_engine.ts";
import { planned } from "../fakes/memory_ledger.ts";
import {
  API_SECRET,
  type HttpService,
  MAX_PAYLOAD,
  READ_SECRET,
  reports,
  SECRET,
  startHttpService,
  withService,
} from "./http_service.ts";

const ENTRY = { url: "https://example.org/acme/shop.git" };
const shop: RunTarget = { context: "default", stack: "shop", status: "succeeded" };
const edge: RunTarget = { context: "edge", stack: "cache", status: "succeeded" };
const NEXT_OPEN = new Date("2026-05-04T20:00:00Z");

function poll(service: HttpService, body: unknown, query = ""): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return service.fetch(`/v1/api/poll/run${query}`, { method: "POST", body: text });
}

/** Work that lasts until it is aborted. */
function untilAborted(begun: () => void = () => {}): Execute {
  return (_work, _reporter, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      begun();
    });
}

/** Sends bytes as they are and returns the response, as soon as it is whole. */
function exchangeRaw(port: number, pieces: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => pieces.forEach((piece) => socket.write(piece)));
    socket.setEncoding("utf8");
    socket.on("data", (chunk) => {
      text += chunk;
      // A connection whose request body never came stays open for a while.
      if (/\r\n\r\n\{.*\}/.test(text)) socket.destroy();
    });
    socket.on("error", (error) => text === "" ? reject(error) : resolve(text));
    socket.on("close", () => resolve(text));
  });
}

describe("GET /v1/health", () => {
  it("is 200 and public while the engine answers", () =>
    withService({}, async (service) => {
      const response = await service.open("/v1/health");
      assert.equal(response.status, 200);
      assert.deepEqual(await response.json(), { details: "healthy" });
      assert.equal(response.headers.get("content-type"), "application/json; charset=utf-8");
      assert.equal(response.headers.get("x-content-type-options"), "nosniff");
      assert.equal(response.headers.get("cache-control"), "no-store");
    }));

  it("answers HEAD with the status alone", () =>
    withService({}, async (service) => {
      const response = await service.open("/v1/health", { method: "HEAD" });
      assert.equal(response.status, 200);
      assert.equal(await response.text(), "");
    }));

  it("is 503 with the redacted error when the engine does not answer", () => {
    const message = `cannot reach tcp://me:${SECRET}@engine:2376`;
    const checkEngine = () => Promise.reject(new StackwrightError("engine_unreachable", message));
    return withService({ checkEngine }, async (service) => {
      const response = await service.open("/v1/health");
      assert.equal(response.status, 503);
      const error = "cannot reach tcp://***@engine:2376";
      assert.deepEqual(await response.json(), { details: "unhealthy", error });
    });
  });

  it("is 503 when the engine takes too long", () => {
    const checkEngine = () => new Promise(() => {});
    return withService({ checkEngine }, async (service) => {
      const answer = service.open("/v1/health");
      while (service.clock.sleepers === 0) await settle();
      await service.clock.advance(3_000);
      assert.equal((await answer).status, 503);
    });
  });

  it("is 503 once shutdown began", () =>
    withService({}, async (service) => {
      await service.intake.close();
      const response = await service.open("/v1/health");
      assert.equal(response.status, 503);
      const error = "application is shutting down";
      assert.deepEqual(await response.json(), { details: "unhealthy", error });
    }));

  it("is 405 for other methods", () =>
    withService({}, async (service) => {
      const response = await service.open("/v1/health", { method: "POST" });
      assert.equal(response.status, 405);
      assert.equal(response.headers.get("allow"), "GET, HEAD");
    }));

  it("asks the engine once for all who ask meanwhile, and again for who comes later", async () => {
    const answers: (() => void)[] = [];
    const checkEngine = () => new Promise<void>((resolve) => answers.push(resolve));
    await withService({ checkEngine }, async ({ handler }) => {
      const ask = () => handler(new Request("http://localhost/v1/health"), { remote: "" });
      const first = Array.from({ length: 100 }, ask);
      await settle();
      assert.equal(answers.length, 1);
      answers[0]?.();
      for (const each of await Promise.all(first)) assert.equal(each.status, 200);
      const later = ask();
      await settle();
      assert.equal(answers.length, 2);
      answers[1]?.();
      assert.equal((await later).status, 200);
    });
  });

  it("makes two plans at a time, however many are asked for", async () => {
    const making: (() => void)[] = [];
    const plan = async () => {
      await new Promise<void>((resolve) => making.push(resolve));
      return await planned();
    };
    await withService({ plan }, async ({ handler }) => {
      const headers = { "x-api-key": API_SECRET };
      const ask = () => {
        const url = "http://localhost/v1/api/deployment/shop/plan";
        return handler(new Request(url, { method: "POST", headers }), { remote: "" });
      };
      const asked = Array.from({ length: 20 }, ask);
      for (let made = 0; made < 20; made++) {
        await settle();
        assert.equal(making.length, Math.min(made + 2, 20));
        making[made]?.();
      }
      for (const each of await Promise.all(asked)) assert.equal(each.status, 200);
    });
  });

  it("lets others have their turn between what a reader asks for", async () => {
    let begun = 0;
    const deployments = () => {
      begun++;
      return Promise.resolve([]);
    };
    await withService({ deployments }, async ({ handler }) => {
      const ask = (key: string) => {
        const headers = { "x-api-key": key };
        const request = new Request("http://localhost/v1/api/deployments", { headers });
        return handler(request, { remote: "" });
      };
      const readers = Array.from({ length: 300 }, () => ask(READ_SECRET));
      // Who may do all does not wait for those who may only look.
      await ask(API_SECRET);
      assert.ok(begun < 100, `${begun} began in one go`);
      for (const each of await Promise.all(readers)) assert.equal(each.status, 200);
      assert.equal(begun, 301);
    });
  });

  it("does nothing for a reader that went away while it waited", async () => {
    let begun = 0;
    const deployments = () => {
      begun++;
      return Promise.resolve([]);
    };
    await withService({ deployments }, async ({ handler }) => {
      const gone = new AbortController();
      const [first, ...others] = Array.from({ length: 20 }, () => {
        const headers = { "x-api-key": READ_SECRET };
        const init = { headers, signal: gone.signal };
        const request = new Request("http://localhost/v1/api/deployments", init);
        return handler(request, { remote: "" });
      });
      gone.abort();
      assert.equal((await first)?.status, 200);
      for (const each of await Promise.all(others)) assert.equal(each.status, 503);
      assert.equal(begun, 1);
    });
  });
});

describe("every route under /v1/api", () => {
  const routes = [
    { method: "GET", path: "/v1/api/runs", other: "POST" },
    { method: "GET", path: "/v1/api/run/some-id", other: "DELETE" },
    { method: "POST", path: "/v1/api/poll/run", other: "GET" },
    { method: "GET", path: "/v1/api/projects", other: "POST" },
    { method: "GET", path: "/v1/api/project/shop", other: "POST" },
    { method: "DELETE", path: "/v1/api/project/shop", other: "POST" },
    { method: "POST", path: "/v1/api/project/shop/stop", other: "GET" },
  ];
  let service: HttpService;
  before(async () => {
    service = await startHttpService();
  });
  after(() => service.stop());

  for (const { method, path, other } of routes) {
    it(`${method} ${path} is 401 without the key and with a wrong one`, async () => {
      for (const key of [undefined, "", "wrong", `${API_SECRET} x`, API_SECRET.slice(1)]) {
        const headers: Record<string, string> = key === undefined ? {} : { "X-API-Key": key };
        const response = await service.open(path, { method, headers });
        assert.equal(response.status, 401);
        const { content, ...body } = await response.json();
        assert.deepEqual(body, { error: "invalid api key" });
        assert.match(content, /header x-api-key/);
      }
    });

    it(`${path} is 405 for ${other}, key or not`, async () => {
      for (const headers of [{}, { "x-api-key": API_SECRET }]) {
        const response = await service.open(path, { method: other, headers });
        assert.equal(response.status, 405);
        assert.ok(response.headers.get("allow")?.split(", ").includes(method));
        const content = `requires method: ${response.headers.get("allow")}`;
        assert.deepEqual(await response.json(), { error: "invalid http method", content });
      }
    });

    it(`${path} is 404 when there is no API secret`, () =>
      withService({ apiSecret: "" }, async (closed) => {
        const response = await closed.fetch(path, { method });
        assert.equal(response.status, 404);
        assert.deepEqual(await response.json(), { error: "not found" });
      }));
  }

  it("the key that may only read is told so where something would change", async () => {
    const headers = { "x-api-key": READ_SECRET };
    for (const path of ["/v1/api/poll/run", "/v1/api/deployment/shop/unpin"]) {
      const response = await service.open(path, { method: "POST", headers, body: "[]" });
      assert.equal(response.status, 403);
      assert.deepEqual(await response.json(), {
        error: "the api key may not do this",
        content: "this needs a key with the power to act: API_READ_SECRET may only read, " +
          "API_SECRET may do all",
      });
    }
    assert.equal((await service.open("/v1/api/runs", { headers })).status, 200);
  });

  it("every route but that of health wants a key, and the one that may only read changes nothing", async () => {
    /** What looks although it is asked for with POST. */
    const looking = ["POST /v1/api/deployment/{name}/plan"];
    const routes = restRoutes(describedOperations()).filter(({ access }) => access !== "public");
    assert.ok(routes.length >= 30, "this test has nothing to show otherwise");
    for (const { methods, path } of routes) {
      for (const method of methods) {
        const at = path.replace("{action}", "stop").replace(/\{\w+\}/g, "nobody");
        const body = method === "POST" ? { body: "{}" } : {};
        const ask = async (headers: Record<string, string>) => {
          const response = await service.open(at, { method, headers, ...body });
          await response.arrayBuffer();
          return response.status;
        };
        const title = `${method} ${path}`;
        assert.equal(await ask({}), 401, title);
        const status = await ask({ "x-api-key": READ_SECRET });
        if (method === "GET" || looking.includes(title)) {
          assert.ok(![401, 403].includes(status), `${title} is ${status}`);
        } else assert.equal(status, 403, title);
      }
    }
  });

  it("unknown paths are 404 in the envelope", async () => {
    for (const path of ["/", "/v1", "/v1/api/", "/v1/api/runs/", "/v1/api/run/", "/x%ff"]) {
      const response = await service.fetch(path);
      assert.equal(response.status, 404, path);
      assert.deepEqual(await response.json(), { error: "not found" });
    }
  });
});

describe("GET /v1/api/runs and /v1/api/run/{jobID}", () => {
  it("list is an empty array when there is no run", () =>
    withService({}, async (service) => {
      const response = await service.fetch("/v1/api/runs");
      assert.equal(response.status, 200);
      const body = await response.json();
      assert.deepEqual(body.content, []);
      assert.equal(body.job_id, response.headers.get("x-request-id"));
    }));

  it("both show a run with its times in the configured zone", () =>
    withService({ execute: reports(shop) }, async (service) => {
      const started = await (await poll(service, [{ ...ENTRY, target: "prod" }])).json();
      const response = await service.fetch(`/v1/api/run/${started.job_id}`);
      assert.equal(response.status, 200);
      const expected = {
        job_id: started.job_id,
        trigger: "poll",
        status: "succeeded",
        target: "prod",
        deployments: [{ context: "default", stack: "shop", status: "succeeded" }],
        message: "poll jobs complete",
        created_at: "2026-03-10T12:00:00.123+01:00",
        started_at: "2026-03-10T12:00:00.123+01:00",
        finished_at: "2026-03-10T12:00:00.123+01:00",
        updated_at: "2026-03-10T12:00:00.123+01:00",
      };
      assert.deepEqual(await response.json(), { content: expected, job_id: started.job_id });
      const list = await (await service.fetch("/v1/api/runs?limit=1&status=SUCCEEDED")).json();
      assert.deepEqual(list.content, [expected]);
    }));

  it("list filters by status and trigger", () =>
    withService({ execute: reports(shop) }, async (service) => {
      await poll(service, [ENTRY]);
      for (const [query, count] of [["status=failed", 0], ["trigger=webhook", 0], ["", 1]]) {
        const list = await (await service.fetch(`/v1/api/runs?${query}`)).json();
        assert.equal(list.content.length, count, String(query));
      }
    }));

  const invalid = [
    ["limit=0", "invalid parameter: limit", "'limit' parameter must be a positive integer"],
    ["limit=1.5", "invalid parameter: limit", "'limit' parameter must be a positive integer"],
    ["limit=many", "invalid parameter: limit", "'limit' parameter must be a positive integer"],
    [
      "status=done",
      "invalid deployment run status",
      "valid status values: accepted, running, succeeded, failed, skipped",
    ],
    [
      "trigger=push",
      "invalid deployment run trigger",
      "valid trigger values: webhook, poll, scheduled_job, mirror_compaction",
    ],
  ] as const;
  for (const [query, error, content] of invalid) {
    it(`list is 400 for ${query}`, () =>
      withService({}, async (service) => {
        const response = await service.fetch(`/v1/api/runs?${query}`);
        assert.equal(response.status, 400);
        assert.deepEqual(await response.json(), { error, content });
      }));
  }

  it("get is 404 for an unknown id", () =>
    withService({}, async (service) => {
      const response = await service.fetch("/v1/api/run/nobody%20knows");
      assert.equal(response.status, 404);
      assert.equal((await response.json()).error, "run not found");
    }));
});

describe("POST /v1/api/poll/run", () => {
  const deferred = (stack: string, windows: string): RunTarget => ({
    ...shop,
    stack,
    status: "skipped",
    reason: "sync_window",
    message: windows,
    retryAt: NEXT_OPEN,
  });
  const paused: RunTarget = { ...shop, status: "skipped", reason: "paused by its configuration" };
  const failed: RunTarget = { ...shop, status: "failed", message: `pull with ${SECRET} denied` };
  const ends = [
    {
      name: "all deployed",
      execute: reports(shop, edge),
      status: 200,
      body: { content: "poll jobs complete" },
    },
    {
      name: "nothing changed",
      execute: reports({ ...shop, status: "skipped", reason: "no_changes" }),
      status: 200,
      body: { content: "no changes" },
    },
    {
      name: "all deferred",
      execute: reports(deferred("shop", "night-only"), deferred("api", "night-only, freeze")),
      status: 202,
      body: {
        content: "deployment of api, shop deferred by sync window freeze, night-only until " +
          "2026-05-04T22:00:00+02:00",
      },
    },
    {
      name: "one deferred, one deployed",
      execute: reports(edge, deferred("shop", "night-only")),
      status: 200,
      body: { content: "poll jobs complete" },
    },
    {
      name: "all paused",
      execute: reports(paused),
      status: 202,
      body: { content: "paused by its configuration" },
    },
    {
      name: "one paused, one deployed",
      execute: reports(edge, paused),
      status: 200,
      body: { content: "poll jobs complete" },
    },
    {
      name: "a target failed",
      execute: reports(failed, deferred("api", "night-only")),
      status: 500,
      body: { error: "1/1 poll jobs failed", content: "shop: pull with *** denied" },
    },
    {
      name: "a crash of ours",
      execute: () => Promise.reject(new TypeError(`x is not a function ${SECRET}`)),
      status: 500,
      body: {
        error: "1/1 poll jobs failed",
        content: "poll run crashed; the log has the details",
      },
    },
  ];
  for (const { name, execute, status, body } of ends) {
    it(`with wait is ${status} when ${name}`, () =>
      withService({ execute }, async (service) => {
        const response = await poll(service, [ENTRY], "?wait=true");
        assert.equal(response.status, status);
        const { job_id: id, ...rest } = await response.json();
        assert.deepEqual(rest, body);
        assert.ok(service.runs.get(id));
      }));
  }

  it("counts failed sources of several", () => {
    const execute: Execute = (_work, reporter) => {
      reporter.target(shop);
      const denied = new StackwrightError("repository_denied", "no access to a");
      const lost = new StackwrightError("repository_unreachable", "cannot reach b");
      return Promise.reject(new AggregateError([denied, lost]));
    };
    return withService({ execute }, async (service) => {
      const response = await poll(service, [ENTRY, ENTRY, ENTRY]);
      assert.equal(response.status, 500);
      const { job_id: id, ...rest } = await response.json();
      const content = "no access to a; cannot reach b";
      assert.deepEqual(rest, { error: "2/3 poll jobs failed", content });
      assert.equal(service.runs.get(id)?.repository, "multiple");
    });
  });

  it("waits unless told otherwise, and without wait goes on when the client is gone", async () => {
    const gate = Promise.withResolvers<void>();
    const execute: Execute = async (_work, reporter) => {
      await gate.promise;
      reporter.target(shop);
    };
    await withService({ execute }, async (service) => {
      const response = await poll(service, [ENTRY], "?wait=f");
      assert.equal(response.status, 202);
      const { content, job_id: id } = await response.json();
      assert.equal(content, "poll jobs started");
      assert.notEqual(service.runs.get(id)?.status, "succeeded");
      gate.resolve();
      while (service.runs.get(id)?.status === "running") await settle();
      assert.equal(service.runs.get(id)?.status, "succeeded");
    });
  });

  const refused = [
    ["no body", "", 400, "failed to decode json in body", "the body is empty"],
    [
      "no JSON",
      "{",
      400,
      "failed to decode json in body",
      "the body is not exactly one JSON value",
    ],
    [
      "trailing data",
      `${JSON.stringify([ENTRY])} []`,
      400,
      "failed to decode json in body",
      "the body is not exactly one JSON value",
    ],
    ["no array", "{}", 400, "failed to decode json in body", "expected a JSON array"],
    ["an empty array", "[]", 400, "no poll configuration provided in request body", undefined],
    ["null", "null", 400, "no poll configuration provided in request body", undefined],
    [
      "33 entries",
      JSON.stringify(Array(33).fill(ENTRY)),
      400,
      "too many poll configurations: maximum is 32",
      undefined,
    ],
  ] as const;
  for (const [name, body, status, error, content] of refused) {
    it(`is ${status} for ${name} and opens no run`, () =>
      withService({}, async (service) => {
        const response = await poll(service, body);
        assert.equal(response.status, status);
        const expected = content === undefined ? { error } : { error, content };
        assert.deepEqual(await response.json(), expected);
        assert.deepEqual(service.runs.list({ limit: 9 }), []);
      }));
  }

  it("is 400 for an invalid entry, naming its index and what is wrong", () =>
    withService({}, async (service) => {
      for (
        const [bad, pattern] of [
          [{}, /^\[1\]\.url: /],
          [{ ...ENTRY, schedule: "@hourly", interval: 60 }, /^\[1\]\.schedule: .*exclude/],
          [{ ...ENTRY, interval: "soon" }, /^\[1\]\.interval: /],
          [{ ...ENTRY, branch: "main" }, /branch/],
          [{ ...ENTRY, reference: "--upload-pack=x" }, /^\[1\]\.reference: .* is no Git reference/],
          [{ ...ENTRY, reference: "a\u0000b" }, /^\[1\]\.reference: /],
          [{ ...ENTRY, reference: "refs/heads/../x" }, /^\[1\]\.reference: /],
          [{ url: "https://git.test/a/%zz" }, /^\[1\]\.url: .*broken percent escape/],
          [{ url: "https://git.test/a/../b" }, /^\[1\]\.url: /],
          [{ url: "https://local/a/b" }, /^\[1\]\.url: .*host name "local"/],
        ] as const
      ) {
        const response = await poll(service, [ENTRY, bad]);
        assert.equal(response.status, 400);
        const body = await response.json();
        assert.equal(body.error, "invalid poll configuration at index 1");
        assert.match(body.content, pattern);
      }
      assert.deepEqual(service.runs.list({ limit: 9 }), []);
    }));

  it("is 400 for a wait that is no boolean, and accepts every spelling of one", () =>
    withService({}, async (service) => {
      const response = await poll(service, [ENTRY], "?wait=yes");
      assert.equal(response.status, 400);
      const content = "'wait' parameter must be true or false";
      assert.deepEqual(await response.json(), { error: "invalid parameter: wait", content });
      for (const word of ["1", "t", "T", "TRUE", "true", "True", ""]) {
        assert.equal((await poll(service, [ENTRY], `?wait=${word}`)).status, 200);
      }
      for (const word of ["0", "f", "F", "FALSE", "false", "False"]) {
        assert.equal((await poll(service, [ENTRY], `?wait=${word}`)).status, 202);
      }
    }));

  it("is 413 for a body that says it is too large", () =>
    withService({}, async (service) => {
      const response = await poll(service, `["${"x".repeat(MAX_PAYLOAD)}"]`);
      assert.equal(response.status, 413);
      assert.equal((await response.json()).error, "failed to decode json in body");
    }));

  it("is 413 for a chunked body that becomes too large", () =>
    withService({}, async (service) => {
      const chunk = `400\r\n${"x".repeat(1024)}\r\n`;
      const text = await exchangeRaw(service.port, [
        `POST /v1/api/poll/run HTTP/1.1\r\nHost: x\r\nx-api-key: ${API_SECRET}\r\n`,
        "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n",
        chunk,
        chunk,
        chunk,
        "0\r\n\r\n",
      ]);
      assert.match(text, /^HTTP\/1\.1 413 /);
      assert.match(text, /larger than 2048 bytes/);
    }));

  it("takes a body of exactly the limit", () =>
    withService({ execute: reports(shop) }, async (service) => {
      const body = JSON.stringify([ENTRY]).padEnd(MAX_PAYLOAD, " ");
      assert.equal((await poll(service, body)).status, 200);
    }));

  it("is 400 for a body that does not arrive in time", () =>
    withService({}, async (service) => {
      const answer = exchangeRaw(service.port, [
        `POST /v1/api/poll/run HTTP/1.1\r\nHost: x\r\nx-api-key: ${API_SECRET}\r\n`,
        "Connection: close\r\nContent-Length: 100\r\n\r\n[",
      ]);
      while (service.clock.sleepers === 0) await settle();
      await service.clock.advance(30_000);
      assert.match(await answer, /^HTTP\/1\.1 400 [^]*took longer than 30 s/);
    }));

  it("is 503 while shutting down, opening no run", () =>
    withService({}, async (service) => {
      await service.intake.close();
      const response = await poll(service, [ENTRY]);
      assert.equal(response.status, 503);
      assert.deepEqual(await response.json(), { error: "application is shutting down" });
      assert.deepEqual(service.runs.list({ limit: 9 }), []);
    }));

  it("is 503 for a client that waits when the grace period of a shutdown ends", async () => {
    const begun = Promise.withResolvers<void>();
    await withService({ execute: untilAborted(begun.resolve) }, async (service) => {
      const answer = poll(service, [ENTRY]);
      await begun.promise;
      const closing = service.intake.close();
      await service.clock.advance(9_999);
      assert.equal(service.runs.list({ limit: 1 })[0]?.status, "running");
      await service.clock.advance(1);
      const response = await answer;
      assert.equal(response.status, 503);
      const { error, job_id: id } = await response.json();
      assert.equal(error, "cancelled by shutdown");
      assert.equal(service.runs.get(id)?.status, "failed");
      await closing;
    });
  });

  it("cancels the work of a waiting client that disconnects", async () => {
    const begun = Promise.withResolvers<void>();
    await withService({ execute: untilAborted(begun.resolve) }, async (service) => {
      const client = new AbortController();
      const answer = service.fetch("/v1/api/poll/run", {
        method: "POST",
        body: JSON.stringify([ENTRY]),
        signal: client.signal,
      });
      answer.catch(() => {});
      await begun.promise;
      client.abort();
      await assert.rejects(answer);
      while (service.runs.list({ limit: 1 })[0]?.status === "running") await settle();
      const [run] = service.runs.list({ limit: 1 });
      assert.equal(run?.status, "failed");
      assert.match(run?.message ?? "", /client .* disconnected/);
    });
  });

  it("takes a client that goes away for no mistake of ours", async () => {
    const begun = Promise.withResolvers<void>();
    const describeContainers = (_labels: unknown, signal: AbortSignal) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        begun.resolve();
      });
    const engine = { ...createMemoryEngine(), describeContainers };
    await withService({ engine }, async (service) => {
      const client = new AbortController();
      const answer = service.fetch("/v1/api/projects", { signal: client.signal });
      answer.catch(() => {});
      await begun.promise;
      client.abort();
      await assert.rejects(answer);
      const gone = () => service.log.lines.find(({ message }) => /client went/.test(message));
      while (gone() === undefined) await settle();
      assert.deepEqual(service.log.lines.filter(({ level }) => level === "error"), []);
    });
  });

  it("is 500 without any detail when an operation itself breaks", () =>
    withService({}, async (service) => {
      service.runs.list = () => {
        throw new TypeError(`undefined is not ${SECRET}`);
      };
      const response = await service.fetch("/v1/api/runs");
      assert.equal(response.status, 500);
      assert.deepEqual(await response.json(), { error: "internal error" });
      const line = service.log.lines.find(({ level }) => level === "error");
      assert.equal(line?.fields["request_id"], response.headers.get("x-request-id"));
    }));
});

describe("projects", () => {
  const shop = () => [
    runningContainer("shop", "web", {
      health: "healthy",
      labels: { "com.docker.compose.depends_on": "db:service_started:false", secret: SECRET },
    }),
    runningContainer("shop", "db"),
  ];
  const stopped = () => runningContainer("old", "job", { state: "exited", exitCode: 0 });

  it("are listed by name, those without a running container only with all", async () => {
    const engine = createMemoryEngine([...shop(), stopped()]);
    await withService({ engine }, async (service) => {
      const names = async (query: string) => {
        const response = await service.fetch(`/v1/api/projects${query}`);
        assert.equal(response.status, 200);
        assert.equal(response.headers.get("x-service-context"), "default");
        return (await response.json()).content.map((each: { Name: string }) => each.Name);
      };
      assert.deepEqual(await names(""), ["shop"]);
      assert.deepEqual(await names("?all=true&context=Default"), ["old", "shop"]);
    });
    await withService({}, async (service) => {
      assert.deepEqual((await (await service.fetch("/v1/api/projects")).json()).content, []);
    });
  });

  it("tell states of their containers and no label that could hold a secret", () =>
    withService({ engine: createMemoryEngine(shop()) }, async (service) => {
      const list = await (await service.fetch("/v1/api/projects")).json();
      const project = { ID: "shop", Name: "shop", Status: "running(2)" };
      assert.deepEqual(list.content, [{ ...project, ConfigFiles: "", Reason: "" }]);
      const text = await (await service.fetch("/v1/api/project/shop")).text();
      assert.doesNotMatch(text, /hunter2|secret/);
      const { content } = JSON.parse(text);
      assert.deepEqual(content.map((each: { Service: string }) => each.Service), ["db", "web"]);
      assert.equal(content[1].Health, "healthy");
      const { Command, Names, LocalVolumes } = content[1];
      assert.deepEqual([Command, Names, LocalVolumes], ["app", [`/${content[1].Name}`], 0]);
    }));

  for (
    const [action, calls] of [
      ["stop", ["stop web-id", "stop db-id"]],
      ["restart", ["restart db-id", "restart web-id"]],
      ["start", []],
    ] as const
  ) {
    it(`${action}: dependencies come first, or last when it ends`, async () => {
      const engine = createMemoryEngine(shop());
      await withService({ engine }, async (service) => {
        const answer = service.fetch(`/v1/api/project/shop/${action}`, { method: "POST" });
        let done = false;
        answer.finally(() => done = true);
        while (!done) {
          await settle();
          await service.clock.advance(1_000);
        }
        const response = await answer;
        const past = { stop: "stopped", restart: "restarted", start: "started" }[action];
        assert.equal((await response.json()).content, `project ${past}: shop`);
        assert.equal(response.status, 200);
        assert.deepEqual(engine.calls, calls);
      });
    });
  }

  it("are removed with what was asked for", async () => {
    const engine = createMemoryEngine(shop());
    await withService({ engine }, async (service) => {
      const path = "/v1/api/project/shop?images=false";
      const response = await service.fetch(path, { method: "DELETE" });
      assert.deepEqual([response.status, (await response.json()).content], [
        200,
        "project removed: shop",
      ]);
      assert.deepEqual(engine.calls, [
        "stop web-id",
        "remove web-id with volumes",
        "stop db-id",
        "remove db-id with volumes",
      ]);
    });
  });

  const refusals: readonly [string, string, number, string][] = [
    ["GET", "/v1/api/project/none", 404, "project not found"],
    ["DELETE", "/v1/api/project/none", 404, "project not found"],
    ["POST", "/v1/api/project/none/stop", 404, "project not found"],
    ["POST", "/v1/api/project/shop/explode", 400, "invalid action"],
    ["POST", "/v1/api/project/none/recreate", 404, "project not found"],
    ["POST", "/v1/api/project/shop/recreate?timeout=0", 400, "invalid project timeout"],
    ["GET", "/v1/api/project/shop/recreate", 405, "invalid http method"],
    ["GET", "/v1/api/project/shop/stop", 405, "invalid http method"],
    ["GET", "/v1/api/projects?context=edge", 400, "unknown context"],
    ["GET", "/v1/api/projects?context=a&context=b", 400, "invalid parameter: context"],
    ["GET", "/v1/api/projects?all=maybe", 400, "invalid parameter: all"],
    ["POST", "/v1/api/project/shop/stop?timeout=0", 400, "invalid project timeout"],
    ["POST", "/v1/api/project/shop/stop?timeout=x", 400, "invalid parameter: timeout"],
    ["DELETE", "/v1/api/project/shop?volumes=no", 400, "invalid parameter: volumes"],
    ["DELETE", "/v1/api/project/shop?contxt=nas", 400, "unknown parameter"],
    ["POST", "/v1/api/project/shop/stop?dry_run=true", 400, "unknown parameter"],
  ];
  for (const [method, path, status, error] of refusals) {
    it(`${method} ${path} is ${status} ${error}, and touches nothing`, async () => {
      const engine = createMemoryEngine(shop());
      await withService({ engine }, async (service) => {
        const response = await service.fetch(path, { method });
        assert.equal(response.status, status);
        assert.equal((await response.json()).error, error);
        assert.deepEqual(engine.calls, []);
        if (path.includes("context=edge")) {
          assert.equal(response.headers.get("x-service-context"), "edge");
        }
      });
    });
  }

  it("name every action where one is not known", async () => {
    await withService({ engine: createMemoryEngine(shop()) }, async (service) => {
      const response = await service.fetch("/v1/api/project/shop/explode", { method: "POST" });
      assert.match((await response.json()).content, /use one of start, stop, restart, recreate$/);
    });
  });

  it("are a 500 with a text of their own when the engine fails, the cause as detail", async () => {
    const engine = createMemoryEngine(shop());
    engine.onCall = () => {
      throw new StackwrightError("engine_refused", `engine refused: ${SECRET}`);
    };
    await withService({ engine }, async (service) => {
      const response = await service.fetch("/v1/api/project/shop/stop", { method: "POST" });
      assert.equal(response.status, 500);
      const body = await response.json();
      assert.deepEqual(body, { error: "failed to stop project", content: "engine refused: ***" });
    });
  });
});
