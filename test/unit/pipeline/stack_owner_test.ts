import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  errors,
  LABELS,
  MANAGER,
  type StackKey,
  stackKey,
  type StackOwner,
} from "../../../src/model/mod.ts";
import { requireOwner } from "../../../src/pipeline/destroy/require_owner.ts";
import type { Claim } from "../../../src/pipeline/owner/whose.ts";
import { claimOf } from "../../../src/pipeline/owner/claim.ts";
import type { PipelineParts } from "../../../src/pipeline/parts.ts";
import {
  jobCredentials,
  requireNotAnothers,
  requireNothingForeign,
} from "../../../src/pipeline/stack_owner.ts";
import type { Target } from "../../../src/prepare/mod.ts";
import { systemClock } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { releaseOf } from "../record/releases.ts";

const OURS = { source: "host/me/conf", reference: "" };
const DEPLOYED = "host/them/app";
const OP = stackKey("", "op");

const KEY = stackKey("", "shop");
const PEERS = "cd.doco.source.url";
const peers = (source: string) => ({ [PEERS]: `https://user:word@${source}.git` });
const [ours, theirs] = [peers(OURS.source), peers(DEPLOYED)];
const before = { [LABELS.manager]: MANAGER, [LABELS.sourceName]: DEPLOYED };

/** Asks for a stack with one container, in the name of `wants`. */
const asked = (labels: Record<string, string>, more: Partial<Claim> & { takes?: boolean } = {}) => {
  const { takes = false, ...claimed } = more;
  const claim = {
    owner: OURS,
    isAdopted: false,
    configurations: () => new Set<string>(),
    sources: () => new Set<string>(),
    hasDeployed: () => false,
    tookOver: () => false,
    ...claimed,
  };
  return () =>
    requireOwner(KEY, OURS, { parts: [{ name: "shop-web-1", labels }], claim, takes }, "gone");
};

describe("requireOwner()", () => {
  const deployed = { sources: () => new Set([DEPLOYED]), hasDeployed: () => true };

  it("takes what the owner's own configuration deployed from elsewhere for the owner's", () => {
    assert.doesNotThrow(asked(before, deployed));
  });

  it("gives nobody else a right by what is deployed", () => {
    assert.throws(
      asked(before),
      /shop is not gone: its container shop-web-1 belongs to host\/them/,
    );
    const by = { ...before, [LABELS.sourceConfiguration]: DEPLOYED };
    assert.throws(asked(by, deployed), /its container shop-web-1 belongs to host\/them\/app/);
    const owner = { ...OURS, source: DEPLOYED };
    assert.throws(asked(before, { owner }), /shop is not gone: it belongs to host\/them\/app/);
  });
});

describe("requireOwner(), where containers of others may be taken over", () => {
  const adopted = { isAdopted: true };
  const rows: readonly [string, () => void, RegExp | undefined][] = [
    ["takes what doco-cd deployed from its source", asked(ours, { takes: true }), undefined],
    [
      "leaves what doco-cd deployed from elsewhere",
      asked(theirs, { takes: true }),
      /-1 belongs to https:\/\/host\/them\/app\.git, .* or hand all over: stackwright adopt shop --source host\/me\/conf/,
    ],
    ["leaves what a person started", asked({}, { takes: true }), /to nobody Stackwright knows/],
    ["takes any after a hand-over", asked({}, { ...adopted, takes: true }), undefined],
    [
      "takes doco-cd's from elsewhere after a hand-over",
      asked(theirs, { ...adopted, takes: true }),
      undefined,
    ],
    [
      "takes none that is another owner's",
      asked(ours, { ...adopted, owner: { ...OURS, source: DEPLOYED }, takes: true }),
      /it belongs to host\/them\/app/,
    ],
  ];
  for (const [title, ask, refusal] of rows) {
    it(title, () => refusal === undefined ? ask() : assert.throws(ask, refusal));
  }

  it("takes none that came after its own release, but for doco-cd's of its source", () => {
    const ran = { ...adopted, hasDeployed: () => true, takes: true };
    asked(ours, ran)();
    const there = { ...ran, sources: () => new Set(["https://host/them/app.git"]) };
    for (const [labels, claim] of [[{}, ran], [theirs, ran], [theirs, there]] as const) {
      assert.throws(asked(labels, claim), /; remove it by hand$/);
    }
    assert.throws(asked(theirs, ran), /belongs to https:\/\/host\/them\/app\.git/);
  });

  it("takes none for what is no removal", () => {
    assert.throws(asked(ours));
    assert.throws(asked({}, adopted));
  });
});

describe("jobCredentials()", () => {
  type Parts = Parameters<typeof jobCredentials>[0];
  const parts = {
    ledger: {
      current: ({ name }: { readonly name: string }) => name === "shop" ? {} : undefined,
      shown: () => ({ services: [{ name: "backup", image: "own.example/backup:1" }] }),
    },
    host: { images: { credentials: (image: string) => Promise.resolve(`of ${image}`) } },
  } as unknown as Parts;
  const asked = (context: string, name: string, service: string) =>
    jobCredentials(
      parts,
      { key: stackKey(context, name), service },
      "other.example/x",
      new AbortController().signal,
    );

  it("believes the engine of this machine about the image of a job", async () => {
    assert.equal(await asked("", "shop", "backup"), "of other.example/x");
    assert.equal(await asked("", "theirs", "backup"), "of other.example/x");
  });

  it("gives another context's engine those of the deployed image, and else none", async () => {
    assert.equal(await asked("far", "shop", "backup"), "of own.example/backup:1");
    assert.equal(await asked("far", "shop", "made-up"), "");
    assert.equal(await asked("far", "made-up", "backup"), "");
  });
});

/** A ledger in which a stack has an owner, who deploys the repository of the configuration. */
function ledgerWith(key: StackKey, owner: StackOwner) {
  const ledger = createMemoryLedger(createFakeClock());
  ledger.owners.settle(key, owner, { repository: owner.source, isFound: false });
  return ledger;
}

describe("requireNothingForeign()", () => {
  type Parts = Parameters<typeof requireNothingForeign>[0];
  const E1 = { id: "e1", hostname: "h1", cluster: "" };
  const labels = { "com.docker.stack.namespace": "shop" };
  const there = ["shop_db", "h1_data"].map((name) => ({ name, labels }));
  /** A service whose tasks could not start yet, or are due later. */
  const waiting = (stack: string, Labels: object, ...sources: string[]) => ({
    labels: { "com.docker.stack.namespace": stack },
    spec: {
      TaskTemplate: {
        ContainerSpec: {
          Mounts: sources.map((Source) => ({ Type: "volume", Source, VolumeOptions: { Labels } })),
        },
      },
    },
  });
  const services = [
    waiting(
      "shop",
      labels,
      "later",
      "v7",
      "s7",
      "{{.Service.Name}}-own",
      "{{.Node.Hostname}}-x",
      "ours",
    ),
    waiting("shop", {}, "shared"),
    waiting("op", { "com.docker.stack.namespace": "op" }, "ours", "s1"),
    { labels: {}, spec: {} },
  ];
  const parts = {
    ledger: ledgerWith(stackKey("", "shop"), OURS),
    clock: systemClock,
    hosts: { of: () => Promise.resolve({ info: () => Promise.resolve(E1) }) },
    host: {
      info: () => Promise.resolve({ ...E1, swarm: "manager" }),
      engine: {
        swarm: {
          everyService: (of: (service: object) => object | undefined) =>
            Promise.resolve(services.map(of).filter((each) => each !== undefined)),
        },
        everyVolume: (isWanted: (name: string) => boolean) =>
          Promise.resolve(there.filter(({ name }) => isWanted(name))),
        findNetworks: () => Promise.resolve([]),
        findVolumes: (names: string[]) =>
          Promise.resolve(there.filter((each) => names.includes(each.name))),
      },
    },
  } as unknown as Parts;
  const askFor = (
    name: string,
    source: string,
    more: object,
    owner: object = { owner: { source, reference: "" } },
    given = parts,
    volumes: Record<string, object> = { data: { name } },
  ) =>
    requireNothingForeign(
      given,
      {
        key: stackKey("", "op"),
        ...owner,
        ...more,
        revision: { source: { name: source }, reference: "" },
      } as Parameters<typeof requireNothingForeign>[1],
      { services: {}, volumes },
      new AbortController().signal,
    );
  const swarm = { swarm: {} };

  for (const name of ["shop_db", "sh{{.Service.Name}}", "{{.Node.Hostname}}_data"]) {
    it(`asks in a swarm what ${name} becomes on this node, and whose that is`, async () => {
      await assert.rejects(askFor(name, DEPLOYED, swarm), { code: "conflict" });
      await askFor(name, OURS.source, swarm);
    });
  }

  it("knows the name of this node", () => askFor("{{.Node.Hostname}}_db", DEPLOYED, swarm));

  it("takes a release of a stack without a recorded owner for its own source's", async () => {
    await assert.rejects(askFor("shop_db", DEPLOYED, {}, {}), { code: "conflict" });
    await askFor("shop_db", OURS.source, {}, {});
  });

  for (const [name, more] of [["later", swarm], ["later", {}], ["h1-x", {}]] as const) {
    it(`asks whose ${name} is that tasks will make ${more === swarm ? "" : "beside containers"}`, async () => {
      await assert.rejects(askFor(name, DEPLOYED, more), {
        code: "conflict",
        message: /is stack shop's, which runs from host\/me\/conf, and was not mounted/,
      });
      await askFor(name, OURS.source, more);
    });
  }

  it("asks of a template what tasks will make", async () => {
    await assert.rejects(askFor("v{{.Task.Slot}}", DEPLOYED, swarm), { code: "conflict" });
    await assert.rejects(askFor("shop_web-own", DEPLOYED, swarm), { code: "conflict" });
    await assert.rejects(askFor("s{{.Task.Slot}}", DEPLOYED, swarm), { code: "conflict" });
  });

  for (const name of ["ours", "shared", "late", "shopweb-own"]) {
    it(`lets ${name} be, which no other stack alone will make`, () =>
      askFor(name, DEPLOYED, swarm));
  }

  it("asks a swarm without a leader nothing: it starts no tasks, and containers need none", async () => {
    const { engine } = parts.host;
    const says = (message: string) => {
      const everyService = () => Promise.reject(errors.engine_refused(message));
      return { ...parts, host: { ...parts.host, engine: { ...engine, swarm: { everyService } } } };
    };
    const leaderless = says(
      "500 rpc error: code = Unknown desc = The swarm does not have a leader.",
    );
    await askFor("later", DEPLOYED, {}, {}, leaderless as unknown as Parts);
    const conflict = askFor("shop_db", DEPLOYED, {}, {}, leaderless as unknown as Parts);
    await assert.rejects(conflict, { code: "conflict" });
    const large = says("500 rpc error: code = ResourceExhausted") as unknown as Parts;
    await assert.rejects(askFor("later", DEPLOYED, {}, {}, large), { code: "engine_refused" });
  });

  it("asks for the owner by another context of the engine, where this one has none", async () => {
    const main = { source: DEPLOYED, reference: "refs/heads/main" };
    let asked = 0;
    const elsewhere = {
      ...parts,
      ledger: ledgerWith(stackKey("alias", "shop"), main),
      hosts: {
        of: () => {
          asked++;
          return parts.hosts.of("", new AbortController().signal);
        },
      },
    } as unknown as Parts;
    const by = (reference: string) => ({ owner: { source: DEPLOYED, reference } });
    const dev = askFor("shop_db", DEPLOYED, {}, by("refs/heads/dev"), elsewhere);
    await assert.rejects(dev, {
      code: "conflict",
      message: /runs from host\/them\/app \(.*main\)/,
    });
    await askFor("shop_db", DEPLOYED, {}, by(main.reference), elsewhere);
    await askFor("not-there", DEPLOYED, {}, by("refs/heads/dev"), elsewhere);
    assert.equal(asked, 2);
  });

  /** Ports with a volume and a network that other stacks made, which say what they were deployed from. */
  const thereFrom = (source: string, ledger: Parts["ledger"]) => {
    const own = { ...labels, [LABELS.manager]: MANAGER, [LABELS.sourceName]: source };
    const found = (names: string[]) =>
      Promise.resolve(names.map((name) => ({ name, labels: own })));
    const engine = { ...parts.host.engine, findVolumes: found, findNetworks: found };
    return { ...parts, ledger, host: { ...parts.host, engine } } as unknown as Parts;
  };

  it("refuses what says that it is another's, whatever an engine that may lie makes of its stack", async () => {
    const owner = { source: DEPLOYED, reference: "refs/heads/main" };
    const lied = ledgerWith(stackKey("lying", "shop"), owner);
    for (const source of [OURS.source, DEPLOYED]) {
      const ask = askFor("shop_db", DEPLOYED, {}, { owner }, thereFrom(source, lied));
      if (source === DEPLOYED) await ask;
      else {await assert.rejects(ask, {
          code: "conflict",
          message: /volume shop_db is stack shop's, which runs from host\/me\/conf, and was not/,
        });}
    }
    const join = requireNothingForeign(
      thereFrom(OURS.source, lied),
      {
        ...{ key: OP, owner },
        revision: { source: { name: DEPLOYED }, reference: "" },
      } as Parameters<typeof requireNothingForeign>[1],
      { services: {}, networks: { web: { name: "op_web" } } },
      new AbortController().signal,
    );
    await assert.rejects(join, { code: "conflict", message: /network op_web is stack shop's/ });
  });

  it("asks all contexts of the engine: a lying one hides none that tells the truth", async () => {
    const main = { source: DEPLOYED, reference: "refs/heads/main" };
    const dev = { ...main, reference: "refs/heads/dev" };
    const ledger = ledgerWith(stackKey("true", "shop"), main);
    ledger.owners.settle(stackKey("lying", "shop"), dev);
    const given = thereFrom(DEPLOYED, ledger);
    for (const owner of [main, dev]) {
      await assert.rejects(askFor("shop_db", DEPLOYED, {}, { owner }, given), { code: "conflict" });
    }
  });

  const policy = { delete: true, removeVolumes: true, removeImages: false };
  const foundIn = (repository: string, name = "op", context = "") => ({
    key: stackKey(context, name),
    owner: { source: OURS.source, target: "", reference: "" },
    ...{ repository, directory: name, policy },
  });

  it("refuses volumes of what the owner's configuration discovered in another repository", async () => {
    const ledger = ledgerWith(stackKey("", "shop"), OURS);
    const given = { ...parts, ledger };
    await askFor("shop_db", DEPLOYED, {}, { owner: OURS }, given);
    const from = { repository: "host/third/app", isFound: true };
    ledger.discovered.set(foundIn(from.repository, "shop"));
    ledger.owners.settle(stackKey("", "shop"), OURS, from);
    await assert.rejects(askFor("shop_db", DEPLOYED, {}, { owner: OURS }, given), {
      message: /is stack shop's, which has another repository, and was not mounted/,
    });
    await askFor("shop_db", "host/third/app", {}, { owner: OURS }, given);
    // Its removal forgets that it was discovered, and not the owner.
    ledger.discovered.remove(stackKey("", "shop"));
    await assert.rejects(askFor("shop_db", DEPLOYED, {}, { owner: OURS }, given), {
      code: "conflict",
    });
    ledger.discovered.set({ ...foundIn(OURS.source, "shop"), repository: OURS.source });
    await askFor("shop_db", DEPLOYED, {}, { owner: OURS }, given);
    await assert.rejects(
      askFor("shop_db", DEPLOYED, { discovered: foundIn(DEPLOYED) }, { owner: OURS }, given),
      { code: "conflict" },
    );
  });

  it("lets no other context say that a stack has no authors of its own", async () => {
    const [third, lying] = ["host/third/app", stackKey("lying", "shop")];
    const ledger = ledgerWith(stackKey("", "op"), OURS);
    ledger.owners.settle(lying, OURS, { repository: third, isFound: false });
    for (const context of ["default", "lying"]) ledger.owners.noteEngine(context, E1);
    const asking = (source: string) => {
      const discovered = source === OURS.source ? undefined : foundIn(source);
      const given = thereFrom(third, ledger);
      return askFor("shop_db", source, discovered ? { discovered } : {}, { owner: OURS }, given);
    };
    // By an older version, which did not note what is discovered.
    const base = releaseOf(stackKey("", "shop"), "a".repeat(40));
    const at = (name: string) => ({ ...base.revision, source: { ...base.revision.source, name } });
    ledger.beginDeploy({ ...base, revision: at(third), configuration: at(OURS.source) });
    ledger.owners.settle(stackKey("", "shop"), OURS);
    await assert.rejects(asking(OURS.source), { message: /which has another repository/ });
    await assert.rejects(asking(DEPLOYED), { message: /which has another repository/ });
    await asking(third);
    ledger.owners.settle(lying, OURS, { repository: DEPLOYED, isFound: true });
    await assert.rejects(asking(third), { message: /which has another repository/ });
  });

  it("asks labels, whatever other contexts deployed a stack of the same owner from", async () => {
    const ledger = ledgerWith(stackKey("", "op"), OURS);
    ledger.handOver(stackKey("lying", "shop"), OURS);
    const from = { repository: DEPLOYED, isFound: true };
    ledger.owners.settle(stackKey("lying", "shop"), OURS, from);
    const discovered = foundIn(DEPLOYED);
    const ask = (given: Parts) =>
      askFor("shop_db", DEPLOYED, { discovered }, { owner: OURS }, given);
    await assert.rejects(ask(thereFrom(OURS.source, ledger)), {
      message: /which has another repository/,
    });
  });

  it("asks the ledger once about a stack of the owner, however many volumes it has", async () => {
    const ledger = ledgerWith(KEY, OURS);
    const read = ledger.history.bind(ledger);
    let reads = 0;
    const history: typeof read = (...asked) => {
      reads++;
      return read(...asked);
    };
    Object.assign(ledger, { history });
    const names = Array.from({ length: 500 }, (_, at) => `shop_v${at}`);
    const own = { ...labels, [LABELS.manager]: MANAGER, [LABELS.sourceName]: OURS.source };
    const engine = {
      ...parts.host.engine,
      findVolumes: (asked: string[]) =>
        Promise.resolve(asked.map((name) => ({ name, labels: own }))),
    };
    const given = { ...parts, ledger, host: { ...parts.host, engine } } as unknown as Parts;
    const volumes = Object.fromEntries(names.map((name) => [name, { name }]));
    await askFor("shop_v0", OURS.source, {}, { owner: OURS }, given);
    const once = reads;
    assert.ok(once > 0);
    await askFor("", OURS.source, {}, { owner: OURS }, given, volumes);
    assert.equal(reads, 2 * once);
  });

  it("refuses what a context deployed, once its new owner deployed it by another one", async () => {
    const ledger = ledgerWith(stackKey("", "op"), OURS);
    const given = { ...parts, ledger };
    const alias = stackKey("alias", "op");
    for (const context of ["default", "alias"]) ledger.owners.noteEngine(context, E1);
    ledger.handOver(alias, { source: DEPLOYED, reference: "" }, { also: ["default"] });
    const base = releaseOf(alias, "a".repeat(40));
    const source = { ...base.revision.source, name: DEPLOYED };
    const revision = { ...base.revision, source };
    ledger.succeed(ledger.beginDeploy({ ...base, revision }), {}, "done");
    await assert.rejects(askFor("not-there", OURS.source, {}, { owner: OURS }, given), {
      code: "conflict",
      message: /^op belongs to host\/them\/app by context alias, which leads to the engine of/,
    });
    await assert.rejects(askFor("not-there", OURS.source, {}, {}, given), { code: "conflict" });
    await askFor("not-there", DEPLOYED, {}, {}, given);
  });

  it("refuses everybody where another context, handed to another one, leads to the engine later", async () => {
    const ledger = ledgerWith(stackKey("", "op"), OURS);
    const given = { ...parts, ledger };
    ledger.handOver(stackKey("alias", "op"), { source: DEPLOYED, reference: "" });
    for (const context of ["default", "alias"]) ledger.owners.noteEngine(context, E1);
    for (const from of [OURS.source, DEPLOYED]) {
      await assert.rejects(askFor("not-there", from, {}, {}, given), {
        code: "conflict",
        message: /^op belongs to host\/them\/app by context alias, which leads to the engine of/,
      });
      const claimant = { source: from, reference: "" };
      const target = {
        ...{ key: OP, origin: "automatic" },
        configuration: { source: { name: from }, reference: "" },
      };
      assert.throws(
        () => requireNotAnothers(given as unknown as PipelineParts, target as unknown as Target),
        { code: "conflict", message: /op already belongs to / },
      );
      const facts = { parts: [], claim: claimOf(ledger, OP, { by: claimant }), takes: true };
      assert.throws(() => requireOwner(OP, claimant, facts, "destroyed"), {
        message: /op is not destroyed: it belongs to /,
      });
    }
    ledger.owners.noteEngine("alias", { ...E1, id: "e2" });
    await askFor("not-there", OURS.source, {}, { owner: OURS }, given);
  });

  it("asks labels also of a stack of the owner: another Stackwright may have deployed under its name", async () => {
    const SHOP = stackKey("", "shop");
    const ledger = ledgerWith(SHOP, OURS);
    const asking = (model: object) =>
      requireNothingForeign(
        thereFrom(DEPLOYED, ledger),
        {
          ...{ key: OP, owner: OURS },
          revision: { source: { name: OURS.source }, reference: "" },
        } as Parameters<typeof requireNothingForeign>[1],
        { services: {}, ...model },
        new AbortController().signal,
      );
    const both = [{ networks: { web: { name: "op_web" } } }, {
      volumes: { db: { name: "shop_db" } },
    }];
    for (const model of both) {
      await assert.rejects(asking(model), {
        code: "conflict",
        message: /is stack shop's as host\/them\/app deployed it, and was not (mounted|joined)/,
      });
    }
    ledger.owners.settle(SHOP, OURS, { repository: DEPLOYED, isFound: false });
    ledger.owners.settle(SHOP, OURS, { repository: OURS.source, isFound: false });
    for (const model of both) await asking(model);
    ledger.owners.remove(SHOP);
    ledger.owners.adopt(SHOP, OURS);
    for (const model of both) await asking(model);
  });

  it("mounts nothing of a stack that has two owners by contexts of the engine, in either's name", async () => {
    const [main, dev] = ["main", "dev"].map((branch) => ({
      source: OURS.source,
      reference: `refs/heads/${branch}`,
    })) as [StackOwner, StackOwner];
    const ledger = ledgerWith(stackKey("", "shop"), main);
    ledger.owners.settle(stackKey("alias", "shop"), dev);
    const ask = (owner: StackOwner) =>
      askFor("shop_db", OURS.source, {}, { owner }, thereFrom(OURS.source, ledger));
    ledger.owners.noteEngine("alias", { ...E1, id: "e2" });
    ledger.owners.noteEngine("default", E1);
    await ask(main);
    ledger.owners.noteEngine("alias", E1);
    for (const owner of [main, { ...main, reference: "" }]) {
      await assert.rejects(ask(owner), {
        code: "conflict",
        message:
          /volume shop_db is stack shop's, which runs from host\/me\/conf \(refs\/heads\/dev\)/,
      });
    }
    ledger.handOver(stackKey("", "shop"), main, { also: ["alias"] });
    await ask(main);
  });

  it("refuses what was discovered and is deployed from elsewhere by another context", async () => {
    const ledger = ledgerWith(stackKey("", "op"), OURS);
    const given = { ...parts, ledger };
    for (const context of ["default", "alias"]) ledger.owners.noteEngine(context, E1);
    ledger.owners.settle(stackKey("alias", "op"), OURS);
    ledger.beginDeploy(releaseOf(stackKey("alias", "op"), "a".repeat(40)));
    await askFor("not-there", DEPLOYED, {}, { owner: OURS }, given);
    ledger.discovered.set(foundIn(DEPLOYED));
    await assert.rejects(askFor("not-there", DEPLOYED, {}, { owner: OURS }, given), {
      code: "conflict",
      message:
        /^op is deployed from .* by context alias, so it was not deployed from op of host\/them/,
    });
  });

  it("takes a name of containers as it is written", async () => {
    await askFor("sh{{.Service.Name}}", DEPLOYED, {});
    await assert.rejects(askFor("shop_db", DEPLOYED, {}), { code: "conflict" });
  });
});
