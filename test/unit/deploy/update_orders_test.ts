import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ResourceSummary } from "../../../src/docker/mod.ts";
import { withUpdateOrders } from "../../../src/deploy/mod.ts";
import { findUpdates } from "../../../src/deploy/update/update_orders.ts";
import { updateOf } from "../../../src/deploy/update/update_config.ts";
import { isStackwrightError, type ObservedContainer, type Plan } from "../../../src/model/mod.ts";
import { runningContainer } from "../../fakes/memory_engine.ts";

type Part = Readonly<Record<string, unknown>>;
const never = new AbortController().signal;
const FIRST = { update_config: { order: "start-first" } };
const REQUIRED = { "stackwright.update.require": "start-first" };
const web = (more: Part = {}) => ({
  image: "app:1",
  networks: { default: null },
  deploy: FIRST,
  ...more,
});

interface Given {
  readonly service?: Part;
  readonly labels?: Readonly<Record<string, string>>;
  readonly imageLabels?: Readonly<Record<string, string>>;
  readonly imageVolumes?: readonly string[];
  readonly remade?: readonly { readonly key: string }[];
  readonly networks?: Part;
  /** What is on the engine. */
  readonly made?: readonly ResourceSummary[];
  readonly api?: string;
  /** State of the container that is there. */
  readonly state?: ObservedContainer["state"];
}

const old = { id: "n", name: "shop_default", driver: "bridge", labels: {} };
const kept = { ...old, labels: { "stackwright.network.keeps_addresses": "true" } };

function question(
  {
    service = {},
    labels = {},
    imageLabels = {},
    imageVolumes = [],
    remade = [],
    networks,
    made = [],
    api = "1.45",
    state = "running",
  }: Given,
) {
  const running = runningContainer("shop", "web", { state });
  const containers: ObservedContainer[] = [running];
  const model = {
    name: "shop",
    services: { web: web(service) },
    networks: networks ?? { default: { name: "shop_default" } },
  };
  const services = [{ name: "web", action: "recreate" as const, because: ["it changed"] }];
  const engine = {
    // Lists leave the labels of authors out.
    inspectContainer: () => Promise.resolve({ container: { ...running, labels } } as never),
    imageVolumes: () => Promise.resolve(imageVolumes),
    imageLabels: () => Promise.resolve(imageLabels),
    findNetworks: (names: readonly string[]) =>
      Promise.resolve(made.filter(({ name }) => names.includes(name))),
    apiVersion: () => Promise.resolve(api),
  };
  const release = { model, services: [] };
  return { engine, asked: { release, observed: { containers }, remade }, services };
}

async function planned(given: Given): Promise<string> {
  const { engine, asked, services } = question(given);
  const plan: Plan = { kind: "deploy", message: "recreate web", services };
  const found = await withUpdateOrders(engine, plan, asked, never);
  return found.services[0]?.because.join("; ") ?? "";
}

/** What shows itself only when a service is replaced; the first reason where there are several. */
const OBSTACLES: readonly (readonly [what: string, given: Given, because: RegExp | undefined])[] = [
  ["nothing is in the way", {}, undefined],
  ["the model forbids it", { service: { network_mode: "host" } }, /: network_mode is host$/],
  [
    "docker compose makes its container",
    { service: { gpus: [{ count: 1 }] } },
    /: services\.web\.gpus is left to docker compose, which stops first$/,
  ],
  [
    "docker compose makes everything",
    { networks: { default: { name: "shop_default", strange: 1 } } },
    /: networks\.default\.strange is left to docker compose/,
  ],
  [
    "a label of a reverse proxy changes",
    {
      service: { labels: { "traefik.http.routers.web.rule": "Host(`$$b`)" } },
      labels: { "traefik.http.routers.web.rule": "Host(`a`)" },
    },
    /: the label traefik\.http\.routers\.web\.rule changes, /,
  ],
  [
    "a label of a reverse proxy stays, with a dollar",
    {
      service: { labels: { "traefik.http.routers.web.rule": "Host(`$$b`)" } },
      labels: { "traefik.http.routers.web.rule": "Host(`$b`)" },
    },
    undefined,
  ],
  [
    "a label of a reverse proxy is taken away",
    { labels: { caddy: "a.example" } },
    /: the label caddy changes, /,
  ],
  [
    "the image has a label of a reverse proxy",
    { labels: { "caddy.tls": "internal" }, imageLabels: { "caddy.tls": "internal" } },
    undefined,
  ],
  ["another label changes", { service: { labels: { a: "2" } }, labels: { a: "1" } }, undefined],
  ["its network is made anew", { remade: [{ key: "default" }] }, /: network default is made anew$/],
  ["another network is", { remade: [{ key: "back" }] }, undefined],
  [
    "its image declares a volume",
    { imageVolumes: ["/data"] },
    /: its image declares the volume \/data, of one container$/,
  ],
  [
    "it mounts something read-only where its image declares a volume",
    {
      imageVolumes: ["/data", "/tmp"],
      service: {
        tmpfs: ["/tmp:size=1m"],
        volumes: [{ type: "bind", source: "/x", target: "/data", read_only: true }],
      },
    },
    undefined,
  ],
];

describe("the order in which a service is replaced that asks for start-first", () => {
  for (const [what, given, because] of OBSTACLES) {
    it(`is ${because === undefined ? "start" : "stop"}-first where ${what}`, async () => {
      const text = await planned(given);
      if (because === undefined) return assert.match(text, /^it changed; replaced start-first: /);
      assert.match(text, /^it changed; replaced stop-first, although start-first is asked for: /);
      assert.match(text, because);
    });
  }

  it("says so where requests can fail, in a network whose range the engine chose", async () => {
    const chosen = {
      default: { name: "shop_default", ipam: { config: [{ subnet: "10.1.0.0/24" }] } },
    };
    const rough = /^it changed; replaced start-first: .*; in network shop_default, .* can fail /;
    assert.match(await planned({ made: [old] }), rough);
    assert.match(await planned({ made: [{ ...old, driver: "macvlan" }], api: "1.53" }), rough);
    for (
      const given of [{ made: [] }, { made: [kept] }, { made: [old], networks: chosen }, {
        made: [old],
        api: "1.53",
      }, { made: [{ ...old, name: "others" }] }]
    ) {
      assert.doesNotMatch(await planned(given), /can fail/);
    }
  });

  it("does not promise that a container serves meanwhile which does not run", async () => {
    const text = "it changed; replaced start-first; none of its containers runs now";
    for (const state of ["restarting", "exited"] as const) {
      assert.equal(await planned({ state, made: [old] }), text);
    }
  });

  it("is an error where that is required, but for going back", async () => {
    const { engine, asked, services } = question({
      service: { labels: REQUIRED },
      imageVolumes: ["/data"],
    });
    await assert.rejects(
      findUpdates(engine, { ...asked, services }, never),
      (error) =>
        isStackwrightError(error, "config_invalid") &&
        /web .* the volume \/data/.test(error.message),
    );
    const back = await findUpdates(engine, { ...asked, services, way: "back" }, never);
    assert.equal(back.get("web")?.order, "stop-first");
  });

  it("says nothing of services that are not replaced, or ask for nothing", async () => {
    const { engine, asked } = question({});
    const services = [{ name: "web", action: "create" as const, because: ["it is new"] }];
    assert.equal((await findUpdates(engine, { ...asked, services }, never)).size, 0);
    assert.equal(await planned({ service: { deploy: {} } }), "it changed");
    assert.equal(await planned({ service: { deploy: { update_config: {} } } }), "it changed");
  });
});

describe("a service that asks for start-first and gives what it holds to another one", () => {
  const port = { ports: [{ target: 80, published: "8080", protocol: "tcp" }] };
  const address = (more: Part) => ({ networks: { default: more } });
  const names = ["api", "web"] as const;
  interface HandOver {
    readonly before: Readonly<Record<typeof names[number], Part>>;
    readonly after: Readonly<Record<typeof names[number], Part>>;
  }

  const modelOf = (services: HandOver["before"]) => ({
    name: "shop",
    services: Object.fromEntries(
      names.map((name) => [name, { image: "app:1", ...services[name] }]),
    ),
    networks: { default: { name: "shop_default" } },
  });

  function ordersOf({ before, after }: HandOver) {
    const services = names.map((name) => ({ name, action: "recreate" as const, because: [] }));
    const release = { model: modelOf(after), services: [] };
    const containers = names.map((name) => runningContainer("shop", name));
    const previousModel = () => modelOf(before);
    const asked = { release, services, observed: { containers }, previousModel };
    return findUpdates(question({}).engine, asked, never);
  }

  const rules = { deploy: FIRST };
  const web = { networks: { default: null }, ...rules };
  const beside = {
    before: { web: { ...web, ...port }, api: rules },
    after: { web, api: { ...rules, ...port } },
  };

  it("is stopped first where the other starts beside it, and the plan says for whom", async () => {
    const found = await ordersOf(beside);
    assert.equal(found.get("web")?.order, "stop-first");
    assert.match(found.get("web")?.obstacle ?? "", /^api needs a port, /);
    const ip = { ipv4_address: "10.1.0.5" };
    const given = await ordersOf({
      before: { web: { ...rules, ...address(ip) }, api: { ...rules, ...address({}) } },
      after: { web: { ...rules, ...address({}) }, api: { ...rules, ...address(ip) } },
    });
    assert.match(given.get("web")?.obstacle ?? "", /^api needs a port, a name, an address/);
  });

  it("is started first where nobody needs what it holds before it is replaced", async () => {
    const later = { before: { ...beside.before, api: {} }, after: { web, api: port } };
    const nothing = { before: { web, api: port }, after: { web, api: port } };
    for (const moved of [later, nothing]) {
      const found = await ordersOf(moved);
      assert.equal(found.get("web")?.order, "start-first");
      assert.equal(found.get("web")?.obstacle, undefined);
    }
  });

  it("is an error where start-first is required", async () => {
    const required = { ...web, labels: REQUIRED };
    await assert.rejects(
      ordersOf({ ...beside, after: { ...beside.after, web: required } }),
      (error) => isStackwrightError(error, "config_invalid") && /api needs/.test(error.message),
    );
  });
});

describe("updateOf()", () => {
  const of = (deploy: Part, way: "forward" | "back" = "forward") =>
    updateOf({ services: { web: { deploy } } }, "web", way);
  const plain = { order: "stop-first", parallelism: 1, delayMs: 0 };

  it("is nothing where nobody wrote rules", () => {
    assert.equal(of({}), undefined);
    assert.equal(of({ replicas: 2 }), undefined);
    assert.equal(of({ rollback_config: { parallelism: 2 } }), undefined);
  });

  const rows: readonly (readonly [Part, Part])[] = [
    [{}, {}],
    [{ parallelism: 3, delay: "1m30s" }, { parallelism: 3, delayMs: 90_000 }],
    [{ parallelism: 0 }, { parallelism: Infinity }],
    [{ order: "start-first", failure_action: "pause" }, {
      order: "start-first",
      failureAction: "pause",
    }],
    [{ failure_action: "continue", delay: "500ms" }, { failureAction: "continue", delayMs: 500 }],
  ];
  for (const [rules, expected] of rows) {
    it(`reads ${JSON.stringify(rules)}`, () => {
      assert.deepEqual(of({ update_config: rules }), { ...plain, ...expected });
    });
  }

  it("goes back by rollback_config, and by update_config where that says nothing", () => {
    const deploy = {
      update_config: { order: "start-first", parallelism: 2, delay: "9s" },
      rollback_config: { parallelism: 0, delay: "0s" },
    };
    assert.deepEqual(of(deploy), { ...plain, order: "start-first", parallelism: 2, delayMs: 9000 });
    assert.deepEqual(of(deploy, "back"), { ...plain, order: "start-first", parallelism: Infinity });
    assert.deepEqual(of({ rollback_config: { parallelism: 2 } }, "back"), {
      ...plain,
      parallelism: 2,
    });
  });
});
