import assert from "node:assert/strict";
import { connect } from "node:net";
import { describe, it } from "node:test";
import type { Execute } from "../../src/intake.ts";
import { MOST_OF_REPOSITORY } from "../../src/intake/admission.ts";
import {
  type RunTarget,
  type SkipReason,
  StackwrightError,
  type Sync,
} from "../../src/model/mod.ts";
import { WEBHOOK_REFUSALS, WEBHOOK_SUCCESS } from "../../src/serve/mod.ts";
import { rawClient } from "./raw_client.ts";
import { settle } from "../fakes/fake_clock.ts";
import {
  azurePush,
  bitbucketCloudPush,
  bitbucketServerPush,
  githubPush,
  gitlabPush,
  ociPush,
  type Sender,
  signed,
  ZEROS,
} from "../fakes/webhook_requests.ts";
import {
  type HttpService,
  MAX_PAYLOAD,
  reports,
  SECRET,
  WEBHOOK_SECRET,
  withService,
} from "./http_service.ts";

interface Sent {
  readonly sender?: Sender;
  readonly event?: string;
  readonly payload?: unknown;
  readonly secret?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Answered {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Sends a webhook; whatever comes back must be one of the documented answers. */
async function send(service: HttpService, sent: Sent = {}): Promise<Answered> {
  const { sender = "github", event = "push", payload = githubPush(), secret = WEBHOOK_SECRET } =
    sent;
  const { headers, body } = signed(sender, { event, payload, secret });
  const response = await service.open(sent.path ?? "/v1/webhook", {
    method: "POST",
    headers: { ...headers, ...sent.headers },
    body,
  });
  const text = await response.text();
  assert.doesNotMatch(text, /canary|hunter2/);
  const isSuccess = WEBHOOK_SUCCESS[response.status] !== undefined;
  const isRefusal = [...WEBHOOK_REFUSALS, 400, 401, 403, 405, 413].includes(response.status);
  assert.ok(isSuccess || isRefusal, `${response.status} is not documented`);
  const answer = JSON.parse(text) as Record<string, unknown>;
  assert.equal(isRefusal, "error" in answer);
  return { status: response.status, body: answer };
}

/** What was recorded or logged above debug: nothing, when somebody unknown was refused. */
function traces(service: HttpService): readonly unknown[] {
  const lines = service.log.lines.filter(({ level }) => level !== "debug");
  return [...service.runs.list({ limit: 99 }), ...lines];
}

const skipped = (reason: SkipReason, message?: string): RunTarget => ({
  context: "default",
  stack: "shop",
  status: "skipped",
  reason,
  ...(message === undefined ? {} : { message }),
});
const shop: RunTarget = { context: "default", stack: "shop", status: "succeeded" };

describe("POST /v1/webhook", () => {
  const senders: [Sender, string, unknown][] = [
    ["github", "push", githubPush()],
    ["gitea", "push", githubPush()],
    ["gogs", "push", githubPush()],
    ["forgejo", "push", githubPush()],
    ["gitlab", "Push Hook", gitlabPush()],
    ["bitbucket", "repo:push", bitbucketCloudPush()],
    ["bitbucket", "repo:refs_changed", bitbucketServerPush()],
    ["azure", "", azurePush()],
    ["oci", "push", ociPush()],
  ];
  for (const [sender, event, payload] of senders) {
    it(`is 202 with the id of the run for a push of ${sender} ${event}`, () => {
      const seen: Sync[] = [];
      const execute: Execute = (work) => {
        seen.push(work);
        return Promise.resolve();
      };
      return withService({ execute }, async (service) => {
        const { status, body } = await send(service, { sender, event, payload });
        assert.deepEqual([status, body["content"]], [202, "job accepted"]);
        const run = service.runs.get(String(body["job_id"]));
        assert.equal(run?.trigger, "webhook");
        assert.match(run?.repository ?? "", /shop$/);
        await settle();
        assert.equal(seen.length, 1);
        assert.deepEqual([seen[0]?.origin, seen[0]?.sources[0]?.kind], [
          "automatic",
          sender === "oci" ? "oci" : "git",
        ]);
      });
    });

    it(`is 401 for ${sender} ${event} with another secret, and leaves no trace`, () =>
      withService({}, async (service) => {
        for (const secret of ["another", SECRET, ""]) {
          const { status, body } = await send(service, { sender, event, payload, secret });
          assert.equal(status, 401);
          assert.match(String(body["error"]), /incorrect secret key|token verification failed/);
        }
        assert.deepEqual([...traces(service), ...service.authentic], []);
      }));
  }

  it("keeps so much of bodies that never end, and answers who ends his", async () => {
    await withService({ unsignedBytes: 4096 }, async (service) => {
      const { headers } = signed("github", { event: "push", payload: "x", secret: "guess" });
      const lines = Object.entries({ Host: "x", ...headers, "Content-Length": "2000" })
        .map(([name, value]) => `${name}: ${value}\r\n`).join("");
      const half = `POST /v1/webhook HTTP/1.1\r\n${lines}\r\n${"x".repeat(1500)}`;
      const clients = await Promise.all([1, 2, 3, 4, 5].map(() => rawClient(service)));
      try {
        for (const client of clients) client.send(half);
        let givenUp = 0;
        await new Promise<void>((enough) => {
          const count = () => ++givenUp === 3 && enough();
          for (const client of clients) client.until(/half sent/).then(count, () => {});
        });
        const texts = clients.map(({ text }) => text);
        assert.ok(texts.every((text) => text === "" || text.startsWith("HTTP/1.1 503 ")));
        assert.equal((await send(service)).status, 202);
        assert.ok(clients.some(({ text }) => text === ""), "there is room for one");
      } finally {
        for (const client of clients) client.destroy();
      }
    });
  });

  it("counts every request that proved itself, whatever came of it, by its repository", () => {
    const gate = Promise.withResolvers<void>();
    return withService({ execute: () => gate.promise }, async (service) => {
      for (let again = 0; again < 3; again++) await send(service);
      await send(service, { event: "ping" });
      await send(service, { secret: "another" });
      await send(service, { payload: "{" });
      const pushes = Array(3).fill("git.example.org/acme/shop");
      assert.deepEqual(service.authentic, [...pushes, "acme/shop", "invalid"]);
      assert.equal(service.runs.list({ limit: 9 }).length, 3, "runs, waits and skipped");
      gate.resolve();
    });
  });

  it("takes the same delivery again as a wish to look again, and no more", () => {
    const looks: Sync[] = [];
    const execute: Execute = (work, reporter) => {
      looks.push(work);
      reporter.target(shop);
      return Promise.resolve();
    };
    return withService({ execute }, async (service) => {
      const sent = { path: "/v1/webhook?wait=true" };
      const answers = [await send(service, sent), await send(service, sent)];
      assert.deepEqual(answers.map(({ status }) => status), [201, 201]);
      assert.equal(new Set(answers.map(({ body }) => body["job_id"])).size, 2);
      assert.deepEqual(looks[0], looks[1]);
    });
  });

  it("gives the path's target to the work", () => {
    const targets: (string | undefined)[] = [];
    const execute: Execute = ({ sources }) => {
      targets.push(sources[0]?.target);
      return Promise.resolve();
    };
    return withService({ execute }, async (service) => {
      for (const path of ["/v1/webhook/edge.example.org", "/v1/webhook"]) {
        assert.equal((await send(service, { path: `${path}?wait=true` })).status, 201);
      }
      assert.deepEqual(targets, ["edge.example.org", ""]);
    });
  });

  const waits: [string, number][] = [
    ["?wait=true", 201],
    ["?wait=TRUE", 201],
    ["?wait=1", 201],
    ["?wait=yes", 202],
    ["?wait=", 202],
    ["?wait=false", 202],
    ["", 202],
  ];
  for (const [query, status] of waits) {
    it(`is ${status} with ${query || "no query"}`, () =>
      withService({ execute: reports(shop) }, async (service) => {
        assert.equal((await send(service, { path: `/v1/webhook${query}` })).status, status);
      }));
  }

  const ends: [string, Execute, number, Record<string, unknown>][] = [
    ["something was deployed", reports(shop), 201, { content: "job completed successfully" }],
    ["nothing changed", reports(skipped("no_changes")), 201, { content: "no changes" }],
    ["a newer commit is deployed", reports(skipped("superseded")), 201, {
      content: "shop is superseded by a newer revision",
    }],
    [
      "no filter matched",
      reports(skipped("filter_mismatch", "deployment skipped, webhook filter did not match")),
      202,
      {
        content: "deployment skipped, webhook filter did not match",
      },
    ],
    ["everything waits for a window", reports(skipped("sync_window", "night")), 202, {
      content: "deployment of shop deferred by sync window night",
    }],
    ["everything is paused", reports(skipped("paused: deployment shop is paused")), 202, {
      content: "paused: deployment shop is paused",
    }],
    [
      "a filter matched elsewhere",
      reports(skipped("filter_mismatch"), { ...shop, stack: "b" }),
      201,
      {
        content: "job completed successfully",
      },
    ],
    [
      "it failed",
      () =>
        Promise.reject(
          new StackwrightError("repository_unreachable", `clone of https://u:${SECRET}@h/x`),
        ),
      500,
      {
        error: "deployment failed",
        content: "clone of https://***@h/x",
      },
    ],
    [
      "a deployment failed",
      reports(shop, { ...shop, stack: "b", status: "failed", message: "no" }),
      500,
      {
        error: "deployment failed",
        content: "b: no",
      },
    ],
    ["it crashed", () => Promise.reject(new TypeError(SECRET)), 500, {
      error: "deployment failed",
      content: "webhook run crashed; the log has the details",
    }],
  ];
  for (const [what, execute, status, expected] of ends) {
    it(`waits, and is ${status} when ${what}`, () =>
      withService({ execute }, async (service) => {
        const { status: got, body } = await send(service, { path: "/v1/webhook?wait=true" });
        assert.equal(got, status);
        const { job_id, ...rest } = body;
        assert.deepEqual(rest, expected);
        assert.ok(service.runs.get(String(job_id)) !== undefined);
      }));
  }

  const nothing: [string, Sent, RegExp][] = [
    ["a ping", { event: "ping" }, /^ping received/],
    ["a release", { event: "release" }, /^release event received/],
    [
      "a deleted branch",
      { payload: githubPush({ after: ZEROS, deleted: true }) },
      /^branch or tag deletion/,
    ],
    [
      "a deleted tag",
      { event: "delete", payload: githubPush({ ref: "v1", ref_type: "tag" }) },
      /^branch or tag deletion/,
    ],
    [
      "a pull request's reference",
      { payload: githubPush({ ref: "refs/pull/1/head" }) },
      /neither a branch nor a tag/,
    ],
  ];
  for (const [what, sent, message] of nothing) {
    for (const query of ["", "?wait=true"]) {
      it(`is 202 for ${what}${query && " also when waiting"}, whose run is skipped`, () => {
        const execute: Execute = () => Promise.reject(new Error("nothing is to be done"));
        return withService({ execute }, async (service) => {
          const { status, body } = await send(service, {
            ...sent,
            path: `/v1/webhook/edge${query}`,
          });
          assert.equal(status, 202);
          assert.match(String(body["content"]), message);
          const run = service.runs.get(String(body["job_id"]));
          assert.deepEqual([run?.status, run?.repository, run?.target], [
            "skipped",
            "acme/shop",
            "edge",
          ]);
          assert.equal(run?.message, body["content"]);
        });
      });
    }
  }

  /** Of those who know the secret the request is counted; of others there is nothing at all. */
  const unproven = [401, 413];
  const refused: [string, Sent, number, Record<string, unknown>][] = [
    ["an empty signature", { headers: { "X-Hub-Signature-256": "" }, secret: "x" }, 401, {
      error: "incorrect secret key",
      content: "HMAC verification failed",
    }],
    ["an empty body", { payload: "" }, 400, {
      error: "failed to parse payload",
      content: "the body is empty",
    }],
    ["a body that is no JSON", { payload: '{"ref": canary' }, 400, {
      error: "failed to parse payload",
      content: "the body is not exactly one JSON value",
    }],
    ["no event", { event: "" }, 400, {
      error: "failed to parse payload",
      content: "missing event header for GitHub: X-GitHub-Event",
    }],
    ["no reference", { payload: githubPush({ ref: "" }) }, 400, {
      error: "no reference provided in webhook payload, skipping event",
    }],
    ["a name that leaves its directory", { payload: githubPush({ name: "../../etc" }) }, 400, {
      error: "invalid repository name",
      content: "it leaves its directory",
    }],
    ["a target that is no name", { path: "/v1/webhook/..%2Fx" }, 400, {
      error: "invalid target",
      content: "a target consists of letters, digits, dots, dashes and underscores",
    }],
    [
      "a local clone URL",
      { payload: githubPush({ repository: { full_name: "a/b", clone_url: "/etc" } }) },
      403,
      {
        error: "webhook clone URL is not allowed",
        content:
          "it names a repository on this machine; see SOURCE_URL_REWRITES and ALLOW_LOCAL_REPOSITORY_URL",
      },
    ],
    ["a body that is too large", { payload: githubPush({ pad: "x".repeat(MAX_PAYLOAD) }) }, 413, {
      error: "failed to parse payload",
      content: `the body is larger than ${MAX_PAYLOAD} bytes (MAX_PAYLOAD_SIZE)`,
    }],
  ];
  for (const [what, sent, status, expected] of refused) {
    it(`is ${status} for ${what}, and leaves a line in the log where it proved itself`, () =>
      withService({}, async (service) => {
        assert.deepEqual(await send(service, sent), { status, body: expected });
        const proven = !unproven.includes(status) && sent.payload !== "";
        const lines = service.log.lines.filter(({ level }) => level !== "debug");
        assert.equal(traces(service).length, lines.length, "no run");
        const told = lines.map(({ level, message }) => [level, message.slice(0, 50)]);
        const why = `webhook refused: ${expected["error"]}`.slice(0, 50);
        assert.deepEqual(
          told.map(([level, said = ""]) => [level, said.slice(0, why.length)]),
          proven ? [["warning", why]] : [],
        );
        assert.deepEqual(service.authentic, proven ? ["invalid"] : []);
      }));
  }

  it("is 400 without any security header, before the body has come", () =>
    withService({}, async (service) => {
      const head = "POST /v1/webhook HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{";
      const answer = await new Promise<string>((resolve, reject) => {
        const socket = connect(service.port, "127.0.0.1", () => socket.write(head));
        socket.on("data", (chunk) => {
          resolve(String(chunk));
          socket.destroy();
        });
        socket.on("error", reject);
      });
      assert.match(answer, /^HTTP\/1\.1 400 /);
      assert.deepEqual([...traces(service), ...service.authentic], []);
    }));

  it("is 405 for other methods, and says which one it takes", () =>
    withService({}, async (service) => {
      for (const path of ["/v1/webhook", "/v1/webhook/edge"]) {
        for (const method of ["GET", "PUT", "DELETE"]) {
          const response = await service.open(path, { method });
          assert.equal(response.status, 405);
          assert.equal(response.headers.get("allow"), "POST");
          assert.equal((await response.json()).error, "invalid http method");
        }
      }
    }));

  it("is 404 when there is no secret, whatever is sent", () =>
    withService({ webhookSecret: "" }, async (service) => {
      for (const path of ["/v1/webhook", "/v1/webhook/edge"]) {
        const { headers, body } = signed("github", {
          event: "push",
          payload: githubPush(),
          secret: "",
        });
        const response = await service.open(path, { method: "POST", headers, body });
        assert.equal(response.status, 404);
        assert.deepEqual(await response.json(), { error: "not found" });
      }
    }));

  it("is 404 with an empty or a further segment", () =>
    withService({}, async (service) => {
      for (const path of ["/v1/webhook/", "/v1/webhook/a/b"]) {
        assert.equal((await service.open(path, { method: "POST" })).status, 404);
        await settle();
      }
    }));

  it("is 503 once shutdown began, and records nothing", () =>
    withService({}, async (service) => {
      await service.intake.close();
      for (const event of ["push", "ping"]) {
        const answer = await send(service, { event });
        assert.deepEqual(answer, { status: 503, body: { error: "application is shutting down" } });
      }
      assert.equal(service.runs.list({ limit: 9 }).length, 0);
    }));

  it("is 503 with Retry-After while too many of the repository wait, and opens no run", () =>
    withService({ execute: () => new Promise(() => {}) }, async (service) => {
      const { headers, body } = signed("github", {
        event: "push",
        payload: githubPush(),
        secret: WEBHOOK_SECRET,
      });
      const push = () => service.open("/v1/webhook", { method: "POST", headers, body });
      const { job_id: id } = await (await push()).json();
      const { repository = "" } = service.runs.get(id) ?? {};
      const work = { kind: "sync", trigger: "webhook", origin: "automatic", sources: [] } as const;
      for (let n = 1; n < MOST_OF_REPOSITORY; n++) service.intake.submit(work, { repository });
      const answer = await push();
      assert.deepEqual([answer.status, answer.headers.get("retry-after")], [503, "60"]);
      assert.match((await answer.json()).error, /^too many webhooks of this repository wait$/);
    }));

  it("is 503 with the id of the run when shutdown cuts it short", () => {
    const begun = Promise.withResolvers<void>();
    const execute: Execute = (_work, _reporter, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        begun.resolve();
      });
    return withService({ execute }, async (service) => {
      const answer = send(service, { path: "/v1/webhook?wait=true" });
      await begun.promise;
      const closing = service.intake.close();
      await service.clock.advance(20_000);
      await closing;
      const { status, body } = await answer;
      assert.deepEqual([status, body["error"]], [503, "cancelled by shutdown"]);
      assert.equal(service.runs.get(String(body["job_id"]))?.status, "failed");
    });
  });

  it("goes on when the sender that waited has gone", () => {
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    let aborted = false;
    const execute: Execute = async (_work, reporter, signal) => {
      signal.addEventListener("abort", () => aborted = true);
      begun.resolve();
      await end.promise;
      reporter.target(shop);
    };
    return withService({ execute }, async (service) => {
      const { headers, body } = signed("github", {
        event: "push",
        payload: githubPush(),
        secret: WEBHOOK_SECRET,
      });
      const sender = new AbortController();
      const answer = service.open("/v1/webhook?wait=true", {
        method: "POST",
        headers,
        body,
        signal: sender.signal,
      });
      await begun.promise;
      sender.abort();
      await assert.rejects(answer);
      for (let turn = 0; turn < 20; turn++) await settle();
      end.resolve();
      await settle();
      const [run] = service.runs.list({ limit: 1 });
      assert.deepEqual([run?.status, aborted], ["succeeded", false]);
    });
  });
});

describe("a burst of webhooks", () => {
  it("of 6 repositories, 2 references and 2 targets has one run that runs and one that waits each", () => {
    const running = new Map<string, number>();
    let most = 0;
    const release = Promise.withResolvers<void>();
    const looked: string[] = [];
    const execute: Execute = async ({ sources: [source] }) => {
      const key = `${source?.url} ${source?.reference} ${source?.target}`;
      looked.push(key);
      running.set(key, (running.get(key) ?? 0) + 1);
      most = Math.max(most, running.get(key) ?? 0);
      await release.promise;
      running.set(key, (running.get(key) ?? 0) - 1);
    };
    return withService({ execute }, async (service) => {
      const burst = Array.from({ length: 240 }, (_, index) => ({
        path: `/v1/webhook${index % 2 === 0 ? "" : "/edge"}`,
        payload: githubPush({
          name: `acme/shop${Math.floor(index / 4) % 6}`,
          ref: `refs/heads/${Math.floor(index / 2) % 2 === 0 ? "main" : "next"}`,
        }),
      }));
      const answers = await Promise.all(burst.map((each) => send(service, each)));
      assert.ok(answers.every(({ status }) => status === 202));
      const jobs = new Set(answers.map(({ body }) => body["job_id"]));
      assert.equal(jobs.size, 48, "24 lanes, of which each runs one and lets one wait");
      assert.equal(service.runs.list({ limit: 200 }).length, 48);
      release.resolve();
      while (service.runs.list({ limit: 200, status: "accepted" }).length > 0) await settle();
      await settle();
      assert.deepEqual([most, looked.length, new Set(looked).size], [1, 48, 24]);
      for (const job of jobs) {
        const run = service.runs.get(String(job));
        // The oldest finished ones are forgotten.
        if (run !== undefined) assert.equal(run.status, "skipped");
      }
    });
  });
});
