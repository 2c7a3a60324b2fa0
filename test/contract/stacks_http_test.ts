import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StackwrightError } from "../../src/model/mod.ts";
import { settle } from "../fakes/fake_clock.ts";
import { createMemorySwarm, type MemorySwarmEngine } from "../fakes/memory_swarm.ts";
import { type HttpService, READ_SECRET, SECRET, startHttpService } from "./http_service.ts";

const shop = () =>
  createMemorySwarm([
    { stack: "shop", service: "web", container: { Env: [`KEY=${SECRET}`], Args: [SECRET] } },
    {
      stack: "shop",
      service: "db",
      mode: { Global: {} },
      labels: { "stackwright.manager": "stackwright", "traefik.auth": "an-own-word" },
    },
    {
      stack: "shop",
      service: "migrate",
      mode: { ReplicatedJob: { MaxConcurrent: 1, TotalCompletions: 1 } },
    },
    { stack: "blog", service: "web" },
  ]);

async function withShop(
  work: (service: HttpService, engine: MemorySwarmEngine) => Promise<void>,
): Promise<void> {
  const engine = shop();
  const service = await startHttpService({ engine });
  try {
    await work(service, engine);
  } finally {
    await service.stop();
  }
}

/** The answer to a request that waits on the clock of the service. */
async function waitedFor(service: HttpService, path: string, method = "POST"): Promise<Response> {
  const answer = service.fetch(path, { method });
  let done = false;
  answer.finally(() => done = true);
  while (!done) {
    await settle();
    await service.clock.advance(1_000);
  }
  return await answer;
}

describe("stacks over REST", () => {
  it("are listed by name with their services, and nothing that could hold a secret", () =>
    withShop(async (service) => {
      const response = await service.fetch("/v1/api/stacks");
      assert.equal(response.status, 200);
      assert.equal(response.headers.get("x-service-context"), "default");
      const text = await response.text();
      assert.doesNotMatch(text, /hunter2|an-own-word|\*\*\*/);
      const { content } = JSON.parse(text);
      assert.deepEqual(Object.keys(content), ["blog", "shop"]);
      const names = content.shop.map(({ Spec }: { Spec: { Name: string } }) => Spec.Name);
      assert.deepEqual(names, ["shop_db", "shop_migrate", "shop_web"]);
      const one = await (await service.fetch("/v1/api/stack/shop")).json();
      assert.deepEqual(one.content, content.shop);
      const [db, migrate, web] = one.content;
      assert.deepEqual(db.Spec.Labels, {
        "com.docker.stack.namespace": "shop",
        "stackwright.manager": "stackwright",
      });
      assert.deepEqual(migrate.ServiceStatus, {
        RunningTasks: 0,
        DesiredTasks: 1,
        CompletedTasks: 1,
      });
      assert.deepEqual(web.Spec.Mode, { Replicated: { Replicas: 1 } });
      assert.deepEqual(web.Spec.TaskTemplate, {
        ContainerSpec: { Image: "busybox:1@sha256:1" },
      });
    }));

  it("are an empty object where there are none", async () => {
    const service = await startHttpService({ engine: createMemorySwarm() });
    assert.deepEqual((await (await service.fetch("/v1/api/stacks")).json()).content, {});
    await service.stop();
  });

  const done: readonly [path: string, text: string, calls: readonly string[]][] = [
    ["scale?replicas=3&service=web", "service scaled: web to 3 replicas", ["update shop_web"]],
    ["scale?replicas=2", "stack scaled: shop to 2 replicas", [
      "update shop_migrate",
      "update shop_web",
    ]],
    ["scale?replicas=0&wait=false", "stack scaled: shop to 0 replicas", [
      "update shop_migrate",
      "update shop_web",
    ]],
    ["restart", "stack restarted: shop", ["update shop_db", "update shop_web"]],
    ["restart?service=web", "service restarted: shop_web", ["update shop_web"]],
    ["run", "1 job(s) retriggered in stack: shop", ["update shop_migrate"]],
    ["run?service=migrate", "job retriggered: shop_migrate", ["update shop_migrate"]],
  ];
  for (const [path, text, calls] of done) {
    it(`POST ${path} is answered with: ${text}`, () =>
      withShop(async (service, engine) => {
        const response = await waitedFor(service, `/v1/api/stack/shop/${path}`);
        assert.deepEqual([response.status, (await response.json()).content], [200, text]);
        assert.deepEqual(engine.calls, calls);
      }));
  }

  it("are posted again when somebody else was first", () =>
    withShop(async (service, engine) => {
      engine.outOfSequence = 2;
      const response = await waitedFor(service, "/v1/api/stack/shop/restart?service=web");
      assert.equal(response.status, 200);
      engine.outOfSequence = 3;
      const failed = await waitedFor(service, "/v1/api/stack/shop/restart?service=web");
      assert.equal(failed.status, 500);
      await failed.body?.cancel();
    }));

  it("are removed, and nothing but their services, objects and networks", () =>
    withShop(async (service, engine) => {
      engine.volumes = [{
        id: "shop_data",
        name: "shop_data",
        driver: "local",
        labels: { "com.docker.stack.namespace": "shop" },
      }];
      const response = await waitedFor(service, "/v1/api/stack/shop", "DELETE");
      assert.deepEqual(
        [response.status, (await response.json()).content],
        [200, "stack removed: shop"],
      );
      assert.deepEqual(engine.calls.toSorted(), [
        "remove shop_db-id",
        "remove shop_migrate-id",
        "remove shop_web-id",
      ]);
      const [line] = service.log.lines.filter(({ message }) => message.startsWith("the API was"));
      assert.equal(line?.message, "the API was asked to remove stack shop: done");
    }));

  it("name in the error what was done before a service could not be", () =>
    withShop(async (service, engine) => {
      engine.onCall = (call) => {
        if (call !== "update shop_web") return;
        throw new StackwrightError("engine_refused", `engine refused: ${SECRET}`);
      };
      const response = await waitedFor(service, "/v1/api/stack/shop/restart");
      assert.deepEqual([response.status, await response.json()], [500, {
        error: "failed to restart service",
        content: "service shop_web: engine refused: ***; done before: shop_db",
      }]);
    }));

  const refusals: readonly [string, string, number, string][] = [
    ["GET", "/none", 404, "stack not found"],
    ["DELETE", "/none", 404, "stack not found"],
    ["POST", "/none/restart", 404, "stack not found"],
    ["POST", "/shop/explode", 400, "invalid action"],
    ["GET", "/shop/restart", 405, "invalid http method"],
    ["POST", "/shop/scale", 400, "missing or invalid replicas parameter"],
    ["POST", "/shop/scale?replicas=", 400, "missing or invalid replicas parameter"],
    ["POST", "/shop/scale?replicas=-1", 400, "missing or invalid replicas parameter"],
    ["POST", "/shop/scale?replicas=1001", 400, "missing or invalid replicas parameter"],
    ["POST", "/shop/scale?replicas=two", 400, "missing or invalid replicas parameter"],
    ["POST", "/shop/scale?replicas=1.5", 400, "missing or invalid replicas parameter"],
    ["POST", "/shop/scale?replicas=1&wait=maybe", 400, "invalid parameter: wait"],
    ["POST", "/shop/restart?timeout=0", 400, "invalid stack timeout"],
    ["POST", "/shop/restart?service=none", 404, "service not found"],
    ["POST", "/blog/run", 404, "no job services found to retrigger in stack: blog"],
    [
      "POST",
      "/shop/scale?replicas=1&service=db",
      409,
      "service shop_db is not scaled: it runs once on every node, which no number changes",
    ],
    [
      "POST",
      "/shop/restart?service=migrate",
      409,
      "service shop_migrate is not restarted: it is a job, which ends by itself",
    ],
    ["POST", "/shop/run?service=web", 409, "service shop_web is not run: it is no job"],
    ["GET", "/shop?context=edge", 400, "unknown context"],
  ];
  for (const [method, path, status, error] of refusals) {
    it(`${method} ${path} is ${status} ${error}, and touches nothing`, () =>
      withShop(async (service, engine) => {
        const response = await service.fetch(`/v1/api/stack${path}`, { method });
        assert.deepEqual([response.status, (await response.json()).error], [status, error]);
        assert.deepEqual(engine.calls, []);
      }));
  }

  it("are not changed with a key that may only read", () =>
    withShop(async (service, engine) => {
      const headers = { "x-api-key": READ_SECRET };
      for (const [method, path] of [["POST", "/restart"], ["DELETE", ""]] as const) {
        const response = await service.open(`/v1/api/stack/shop${path}`, { method, headers });
        assert.equal(response.status, 403);
        await response.body?.cancel();
      }
      const looked = await service.open("/v1/api/stacks", { headers });
      assert.equal(looked.status, 200);
      await looked.body?.cancel();
      assert.deepEqual(engine.calls, []);
    }));

  it("are a 409 on every route where the engine manages no swarm", async () => {
    const service = await startHttpService();
    const routes = [
      ["GET", "/v1/api/stacks"],
      ["GET", "/v1/api/stack/shop"],
      ["DELETE", "/v1/api/stack/shop"],
      ["POST", "/v1/api/stack/shop/restart"],
    ] as const;
    for (const [method, path] of routes) {
      const response = await service.fetch(path, { method });
      assert.equal(response.status, 409);
      const { error } = await response.json();
      assert.match(error, /swarm features are disabled, or the container engine is not/);
    }
    await service.stop();
  });
});
