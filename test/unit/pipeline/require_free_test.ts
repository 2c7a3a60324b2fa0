import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type ComposeModel,
  type ObservedStack,
  type Release,
  type StackKey,
  stackKey,
} from "../../../src/model/mod.ts";
import { claimsOfContainers } from "../../../src/compose/mod.ts";
import type { Intent } from "../../../src/record/ledger.ts";
import { requireFree, requireServiceFree } from "../../../src/pipeline/owner/require_free.ts";
import type { PipelineParts } from "../../../src/pipeline/parts.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { runningContainer } from "../../fakes/memory_engine.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { releaseOf } from "../record/releases.ts";

const [SHOP, EVIL] = [stackKey("", "shop"), stackKey("", "evil")];
const [OURS, THEIRS] = ["host/me/shop", "host/them/evil"].map((source) => ({
  source,
  reference: "refs/heads/main",
})) as [Owner, Owner];
const E1 = { id: "e1", hostname: "h1", cluster: "" };
type Owner = { readonly source: string; readonly reference: string };

interface Service extends Readonly<Record<string, unknown>> {
  readonly scale?: number;
  readonly autostart?: boolean;
  /** Whether it is a service of a swarm. */
  readonly swarm?: boolean;
}

/** A release of a stack whose services have these keys. */
function releaseWith(key: StackKey, id: string, services: Record<string, Service>): Release {
  const release = releaseOf(key, id);
  const [one = assert.fail()] = release.services;
  const made = Object.entries(services).map(([name, { scale = 1, autostart = true }]) => ({
    ...one,
    name,
    expectation: { ...one.expectation, replicas: scale, autostart },
  }));
  const model: ComposeModel = {
    name: key.name,
    services: Object.fromEntries(
      Object.entries(services).map((
        [name, { scale: _scale, autostart: _autostart, swarm: _swarm, ...service }],
      ) => [name, service]),
    ),
    networks: { net: { name: "shop_net" } },
  };
  const isSwarm = Object.values(services).some(({ swarm }) => swarm === true);
  return { ...release, services: made, model, ...(isSwarm ? { swarm: {} } : {}) };
}

const port = (published: string, host_ip = "") => ({
  ports: [{ target: 80, published, protocol: "tcp", host_ip }],
});
const tasks = (service: Service): Service => ({ ...service, swarm: true });
const named = (name: string) => ({ container_name: name });
const at = (ipv4_address: string) => ({ networks: { net: { ipv4_address } } });
const at6 = (ipv6_address: string) => ({ networks: { net: { ipv6_address } } });

/** A ledger, and what asks it whether a release of `evil` may have its containers made. */
function setUp() {
  const ledger = createMemoryLedger(createFakeClock());
  let opened = 0;
  const open = ledger.open;
  const counting = Object.assign(Object.create(ledger), {
    open: (each: Parameters<typeof open>[0]) => {
      opened++;
      return open(each);
    },
  });
  const parts = {
    ledger: counting,
    hosts: { of: () => Promise.resolve({ info: () => Promise.resolve(E1) }) },
    host: {
      info: () => Promise.resolve(E1),
      engine: { listContainers: () => Promise.resolve([]) },
      sharesFiles: false,
    },
  } as unknown as PipelineParts;
  let count = 0;
  const begin = (services: Record<string, Service>, key = SHOP, owner = OURS): Intent => {
    ledger.owners.settle(key, owner, { repository: owner.source, isFound: false });
    return ledger.beginDeploy(releaseWith(key, `r${++count}`, services));
  };
  const deploy = (...args: Parameters<typeof begin>) => ledger.succeed(begin(...args), {}, "done");
  const ask = (
    services: Record<string, Service>,
    owner = THEIRS,
    key = EVIL,
    action = "create",
  ) => {
    const release = releaseWith(key, "new", services);
    const plan = {
      kind: "deploy" as const,
      message: "",
      services: release.services.map(({ name }) => ({ name, action, reason: "" })),
    } as unknown as Parameters<typeof requireFree>[2]["plan"];
    const observed = { containers: [] } as unknown as ObservedStack;
    return requireFree(parts, release, { plan, observed, owner }, new AbortController().signal);
  };
  const start = (key: StackKey, service: string) =>
    requireServiceFree(parts, key, service, new AbortController().signal);
  return { ledger, begin, deploy, ask, start, opened: () => opened };
}

describe("requireFree()", () => {
  const cases: readonly (readonly [string, Service, Service, boolean])[] = [
    ["a container name", named("front"), named("front"), true],
    ["another container name", named("front"), named("front-2"), false],
    ["a name that compose gives", {}, named("shop-web-1"), true],
    ["a name that compose gives with another number", { scale: 2 }, named("shop-web-7"), true],
    ["a name like one that compose gives", {}, named("shop-web-x"), false],
    [
      "a name that compose gives a service whose profile is not active",
      {},
      named("shop-off-2"),
      true,
    ],
    ["a chosen name that compose would give", named("evil-web-1"), {}, true],
    ["one of a further container", named("evil-web-3"), {}, false],
    ["one of its further containers", named("evil-web-3"), { scale: 3 }, true],
    ["a name like that of a service to come", {}, named("shop-redis-9"), false],
    ["a name with another beginning", {}, named("shops-redis-9"), false],
    [
      "a name that compose gives, of a service without containers",
      { ...named("evil-web-1"), scale: 0 },
      {},
      false,
    ],
    ["the name of a service without containers", { ...named("db"), scale: 0 }, named("db"), true],
    ["a port", port("80"), port("80"), true],
    ["a port of an address", port("80", "127.0.0.1"), port("80"), true],
    ["a port of another address", port("80", "127.0.0.1"), port("80", "127.0.0.2"), false],
    ["another port", port("80"), port("81"), false],
    ["a port in a range", port("80"), port("79-81"), false],
    ["a port beside a range", port("80"), port("81-90"), false],
    ["a port out of a range", port("79-81"), port("80"), false],
    ["a range", port("79-81"), port("81-82"), false],
    ["a port of a service without containers", { ...port("80"), scale: 0 }, port("80"), false],
    ["a port of a job", { ...port("80"), autostart: false }, port("80"), false],
    [
      "a port, to a job, which asks at its runs,",
      port("80"),
      { ...port("80"), autostart: false },
      false,
    ],
    ["a port in another spelling", port("80", "::1"), port("80", "0:0:0::1"), true],
    ["a port in IPv6 form", port("80", "127.0.0.1"), port("80", "::ffff:127.0.0.1"), true],
    ["a port at a name", port("80", "127.0.0.1"), port("80", "localhost"), true],
    ["a port, to a swarm's service,", port("80"), tasks(port("80")), true],
    ["a port of an address, to one", port("80", "127.0.0.1"), tasks(port("80", "127.0.0.2")), true],
    ["a port, to one without tasks,", port("80"), tasks({ ...port("80"), scale: 0 }), true],
    ["a port of a swarm's service", tasks(port("80", "127.0.0.1")), port("80"), true],
    ["a port of one without tasks", tasks({ ...port("80"), scale: 0 }), port("80"), false],
    ["a port of one, to another one,", tasks(port("80")), tasks(port("80")), false],
    ["a name of one", tasks({}), named("shop-web-1"), false],
    ["an address", at("10.1.1.1"), at("10.1.1.1"), true],
    ["another address", at("10.1.1.1"), at("10.1.1.2"), false],
    ["an address in another spelling", at6("fd12::11"), at6("FD12:0:0::0011"), true],
  ];
  for (const [what, theirs, wanted, isRefused] of cases) {
    it(`${isRefused ? "refuses" : "gives"} ${what} that another owner's stack claims`, async () => {
      const { deploy, ask } = setUp();
      deploy({ web: theirs });
      const asked = ask({ web: wanted });
      if (!isRefused) return await asked;
      await assert.rejects(asked, {
        code: "conflict",
        message:
          /^service web needs .*, which is stack shop's, which runs from host\/me\/shop \(.*main\), also while/,
      });
    });
  }

  it("counts what runs, while another release of it is tried, and that one; nothing of one that failed", async () => {
    const { ledger, begin, deploy, ask } = setUp();
    deploy({ web: named("a") });
    const intent = begin({ web: named("b") });
    for (const each of ["a", "b"]) await assert.rejects(ask({ web: named(each) }));
    ledger.fail(intent, "rolled_back", "unhealthy");
    await assert.rejects(ask({ web: named("a") }), { code: "conflict" });
    await ask({ web: named("b") });
    deploy({ web: named("c") });
    await ask({ web: named("a") });
  });

  it("lets stacks of one owner give each other what they like, and a stack have what it has", async () => {
    const { deploy, ask } = setUp();
    deploy({ web: { ...port("80"), ...named("a") } });
    await ask({ web: { ...port("80"), ...named("a") } }, OURS);
    // As an older version let them be deployed.
    deploy({ web: port("80", "127.0.0.1") }, EVIL, THEIRS);
    await ask({ web: { ...port("80", "127.0.0.1"), labels: { v: "2" } } });
    await assert.rejects(ask({ web: port("80") }), { code: "conflict" });
  });

  it("lets no job start with what another owner's stack claims since the job was deployed", async () => {
    const { deploy, start } = setUp();
    const job = { ...port("80"), autostart: false };
    deploy({ web: {}, job }, EVIL, THEIRS);
    await start(EVIL, "job");
    await start(SHOP, "web");
    deploy({ web: port("80"), job: { ...port("80"), autostart: false } });
    await start(SHOP, "job");
    await start(EVIL, "web");
    await assert.rejects(start(EVIL, "job"), { code: "conflict", message: /is stack shop's/ });
  });

  it("counts nothing of a stack that a person stopped, or that was removed", async () => {
    for (const away of ["stop", "remove"]) {
      const { ledger, deploy, ask } = setUp();
      deploy({ web: port("80") });
      await assert.rejects(ask({ web: port("80") }), { code: "conflict" });
      if (away === "stop") ledger.stop(SHOP);
      else ledger.destroyed(ledger.beginDestroy(SHOP, {}), "gone");
      await ask({ web: port("80") });
    }
  });

  it("keeps what a first release found for it, until that is good", async () => {
    const { ledger, ask } = setUp();
    const was = {
      ...runningContainer("shop", "web"),
      name: "a",
      hostPorts: [{ address: "", port: 80, protocol: "tcp" }],
      fixedAddresses: ["10.1.1.1", "fd12::11"].map((address) => ({ network: "shop_net", address })),
    };
    ledger.owners.settle(SHOP, OURS, { repository: OURS.source, isFound: false });
    const first = releaseWith(SHOP, "first", { web: named("b") });
    const claims = claimsOfContainers([was]);
    const intent = ledger.beginDecided(first, ledger.mark(SHOP), { claims }) ?? assert.fail();
    const its = [named("a"), port("80", "127.0.0.1"), at("10.1.1.1"), at6("FD12:0::11")];
    for (const each of [...its, named("b")]) {
      await assert.rejects(ask({ web: each }), { code: "conflict" });
    }
    ledger.succeed(intent, {}, "done");
    ledger.claims.forget(intent.releaseId ?? "");
    await ask({ web: { ...named("a"), ...port("80") } });
    await ask({ web: at("10.1.1.1") });
    await assert.rejects(ask({ web: named("b") }), { code: "conflict" });
  });

  it("lets others have their turn while tens of thousands of ports are noted and asked about", async () => {
    const { deploy, ask } = setUp();
    const from = (first: number) => ({
      ports: Array.from({ length: 20_000 }, (_, at) => port(String(first + 2 * at)).ports[0]),
    });
    deploy({ web: from(1) });
    let turns = 0;
    const others = setInterval(() => turns++, 0);
    try {
      await ask({ web: from(2), job: port("30001"), other: port("50001") }).then(
        () => assert.fail(),
        (error) => assert.match(error.message, /^service job needs port 30001\/tcp/),
      );
    } finally {
      clearInterval(others);
    }
    assert.ok(turns > 100, `${turns} turns`);
  });

  it("asks of services that change alone", async () => {
    const { deploy, ask } = setUp();
    deploy({ web: port("80") });
    await assert.rejects(ask({ web: port("80") }), { code: "conflict" });
    await ask({ web: port("80") }, THEIRS, EVIL, "keep");
  });

  it("opens each release once", async () => {
    const { deploy, ask, opened } = setUp();
    const stacks = Array.from({ length: 9 }, (_, number) => stackKey("", `s${number}`));
    for (const key of stacks) deploy({ web: port("80") }, key);
    for (let time = 0; time < 3; time++) await assert.rejects(ask({ web: port("80") }));
    assert.equal(opened(), stacks.length);
    deploy({ web: port("81") }, stacks[0]);
    await assert.rejects(ask({ web: port("81") }), { message: /is stack s0's/ });
    assert.equal(opened(), stacks.length + 1);
  });

  it("asks what a release was replaced with", async () => {
    const { ledger, deploy, ask } = setUp();
    deploy({ web: named("a") });
    await assert.rejects(ask({ web: named("a") }), { code: "conflict" });
    const current = ledger.current(SHOP) ?? assert.fail();
    ledger.refresh(current, releaseWith(SHOP, "b", { web: named("b") }), ledger.mark(SHOP));
    await ask({ web: named("a") });
    await assert.rejects(ask({ web: named("b") }), { code: "conflict" });
  });

  it("asks the stacks of all contexts of the engine, and of no other engine", async () => {
    const { ledger, deploy, ask } = setUp();
    deploy({ web: port("80") }, stackKey("same", "shop"));
    await ask({ web: port("80") });
    for (const context of ["default", "same"]) {
      ledger.owners.noteEngine(context, E1);
    }
    await assert.rejects(ask({ web: port("80") }), { code: "conflict" });
  });
});
