import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { requireOwnNetworks, requireOwnVolumes } from "../../../src/deploy/mod.ts";
import { LABELS, type StackOwner } from "../../../src/model/mod.ts";

const OURS = "host/me/shop";
const THEIRS = "host/them/wiki";
const labels = (stack: string, source: string) => ({
  [LABELS.manager]: "stackwright",
  [LABELS.deployment]: stack,
  [LABELS.sourceName]: source,
  "com.docker.compose.project": stack,
});

/** Deploys stack `shop` with one volume; `wiki_data` exists with the labels that are given. */
async function check(
  made: Readonly<Record<string, string>>,
  {
    name = "wiki_data",
    there = "wiki_data",
    stack = "shop",
    node,
    external = false,
    owners = {},
    elsewhere = [],
    reference = "",
    separate = "",
  }: {
    readonly name?: string;
    readonly there?: string;
    readonly stack?: string;
    /** The node, where the stack is a swarm's. */
    readonly node?: string;
    readonly external?: boolean;
    readonly owners?: Readonly<Record<string, string | StackOwner>>;
    /** The sources that stack `wiki` has in other contexts. */
    readonly elsewhere?: readonly string[];
    /** The branch of stack `shop`. */
    readonly reference?: string;
    /** A stack of the same owner with authors of its own. */
    readonly separate?: string;
  } = {},
): Promise<void> {
  const volumes = { data: { name, ...external ? { external } : {} } };
  const existing = [{ id: there, name: there, driver: "local", labels: made }];
  const engine = {
    findVolumes: (names: readonly string[]) =>
      Promise.resolve(existing.filter((each) => names.includes(each.name))),
    everyVolume: (isWanted: (name: string) => boolean) =>
      Promise.resolve(existing.filter((each) => isWanted(each.name))),
  };
  const ownersOf = (of: string) => {
    const owner = owners[of];
    const here = typeof owner === "string" ? { source: owner, reference: "" } : owner;
    const beside = elsewhere.map((source) => ({ source, reference: "" }));
    return Promise.resolve({ here, elsewhere: beside });
  };
  const definedBy = (kind: string, of: string) =>
    new Set(kind === "volumes" && of === "wiki" ? ["wiki_gone"] : []);
  await requireOwnVolumes(
    { context: "default", name: stack },
    { name: stack, services: {}, volumes },
    { engine, ownersOf, isSeparate: (of) => of === separate, definedBy, node },
    { source: OURS, reference },
    new AbortController().signal,
  );
}

describe("requireOwnVolumes()", () => {
  const fine: readonly (readonly [string, Parameters<typeof check>])[] = [
    ["a volume of the stack itself, whoever had it before", [labels("shop", THEIRS)]],
    ["one of another stack of its source", [labels("wiki", OURS)]],
    ["one of a stack that was handed to its source", [labels("wiki", THEIRS), {
      owners: { wiki: OURS },
    }]],
    ["one that nobody made for a project", [{}]],
    ["one of a project that nobody manages", [{ "com.docker.compose.project": "wiki" }]],
    ["one of a stack of its source in another context", [labels("wiki", OURS), {
      elsewhere: [OURS],
    }]],
    ["an external one", [labels("wiki", THEIRS), { external: true }]],
  ];
  for (const [title, parts] of fine) it(`lets ${title} be`, () => check(...parts));

  const refused: readonly (readonly [string, Parameters<typeof check>])[] = [
    ["says so itself", [labels("wiki", THEIRS)]],
    ["is in the ledger", [labels("wiki", OURS), { owners: { wiki: THEIRS } }]],
    ["says so itself, whatever another context tells", [labels("wiki", THEIRS), {
      elsewhere: [OURS],
    }]],
    ["is another context's, whatever it says itself", [labels("wiki", OURS), {
      elsewhere: [OURS, THEIRS],
    }]],
    ["had it before it was managed", [{ "com.docker.compose.project": "wiki" }, {
      owners: { wiki: THEIRS },
    }]],
    ["had it in a swarm before it was managed", [{ "com.docker.stack.namespace": "wiki" }, {
      owners: { wiki: THEIRS },
    }]],
  ];
  for (const [title, parts] of refused) {
    it(`refuses one of another source's stack, where that ${title}`, () =>
      assert.rejects(check(...parts), {
        code: "conflict",
        message: /volumes.data: volume wiki_data is stack wiki's, which runs from host\/them\/wiki/,
      }));
  }

  const becomes: readonly (readonly [string, string, string])[] = [
    ["sh{{.Service.Name}}", "op", "shop_db"],
    ["sh{{ .Task.Name }}", "op", "shop_db.1.x"],
    ["{{.Node.Hostname}}_data", "op", "h1_data"],
    ["v{{.Task.Slot}}_{{.Node.Hostname}}", "op", "v2_h1"],
    ["v{{.Task.Slot}}", "op", "v2"],
    ["v{{.Node.ID}}", "op", `v${"7k".repeat(12)}a`],
  ];
  for (const [name, stack, there] of becomes) {
    it(`refuses ${name}, which a swarm may make ${there} for stack ${stack}`, async () => {
      const parts = { name, stack, there };
      await assert.rejects(check(labels("wiki", THEIRS), { ...parts, node: "h1" }), {
        code: "conflict",
        message: new RegExp(`volumes.data: volume ${there} is stack wiki's`),
      });
      await check(labels("wiki", OURS), { ...parts, node: "h1" });
      await check(labels("wiki", THEIRS), { ...parts, node: "h1", external: true });
      await check(labels("wiki", THEIRS), parts);
    });
  }

  for (
    const name of [
      "{{.Node.Hostname}}_data",
      "{{.Service.Name}}_data",
      "{{.Task.Slot}}_data",
      "wiki{{.Task.Slot}}",
      "{{.Node.ID}}_data",
    ]
  ) {
    it(`lets ${name} be, which no swarm makes wiki_data`, () =>
      check(labels("wiki", THEIRS), { name, node: "h1" }));
  }

  it("refuses what another branch of the source deployed, as far as the ledger has branches", async () => {
    const [main, dev] = ["refs/heads/main", "refs/heads/dev"];
    const wiki = labels("wiki", OURS);
    const owned = (reference: string) => ({ owners: { wiki: { source: OURS, reference } } });
    await assert.rejects(check(wiki, { ...owned(main), reference: dev }), {
      code: "conflict",
      message: /is stack wiki's, which runs from host\/me\/shop \(refs\/heads\/main\)/,
    });
    await check(wiki, { ...owned(main), reference: main });
    await check(wiki, { ...owned(""), reference: dev });
    await check(wiki, { reference: dev });
  });

  it("refuses a volume of another stack of the same owner that has authors of its own", async () => {
    const of = (separate: string) =>
      check(labels("wiki", THEIRS), { owners: { wiki: OURS }, separate });
    await assert.rejects(of("wiki"), {
      code: "conflict",
      message: /is stack wiki's, which has another repository, and was not mounted/,
    });
    await of("other");
    const beside = { elsewhere: [OURS], separate: "wiki" };
    const unmanaged = { "com.docker.compose.project": "wiki" };
    await assert.rejects(check(unmanaged, beside), { message: /which has another repository/ });
    await check(unmanaged, { separate: "wiki" });
  });

  it("refuses to make one that another owner's recorded stack defines and that is not there", async () => {
    const gone = { name: "wiki_gone", owners: { wiki: THEIRS } };
    const message = "volumes.data: volume wiki_gone is stack wiki's, which runs from " +
      "host/them/wiki, and is not there now, so it was not made; give the volume another name, or " +
      "share it when it is there: volumes.data.external: true";
    await assert.rejects(check({}, gone), { code: "conflict", message });
    await check({}, { ...gone, owners: { wiki: OURS } });
    await check({}, { ...gone, external: true });
    await check({}, { ...gone, stack: "wiki" });
    await check({}, { ...gone, name: "wiki_other" });
  });

  it("refuses more names with templates than anybody has", async () => {
    const volumes = Object.fromEntries(
      Array.from({ length: 51 }, (_, at) => [`v${at}`, { name: `v${at}{{.Task.Slot}}` }]),
    );
    const engine = {
      findVolumes: () => assert.fail("asked"),
      everyVolume: () => assert.fail("asked"),
    };
    const none = { here: undefined, elsewhere: [] };
    const facts = {
      ownersOf: () => Promise.resolve(none),
      isSeparate: () => false,
      definedBy: () => new Set<string>(),
    };
    const parts = { engine, ...facts, node: "h1" };
    const claimant = { source: OURS, reference: "" };
    const { signal } = new AbortController();
    const key = { context: "default", name: "shop" };
    await assert.rejects(
      requireOwnVolumes(key, { name: "shop", services: {}, volumes }, parts, claimant, signal),
      { code: "unsupported", message: /more than 50 volumes with templates/ },
    );
  });
});

describe("requireOwnNetworks()", () => {
  /** Deploys stack `shop`, where the network of that name is there with these labels. */
  const join = async (
    made: Readonly<Record<string, string>>,
    network: Readonly<Record<string, unknown>> = {},
    owners: Readonly<Record<string, string>> = {},
    elsewhere: readonly StackOwner[] = [],
    isThere = true,
  ) => {
    const name = "shop_default";
    await requireOwnNetworks(
      { context: "default", name: "shop" },
      { name: "shop", services: {}, networks: { default: { name, ...network } } },
      {
        engine: {
          findNetworks: (names) =>
            Promise.resolve((isThere ? names : []).map((each) => ({
              ...{ id: "1", name: each, driver: "bridge", labels: made },
            }))),
        },
        definedBy: (_, of) =>
          new Set(
            of === "wiki_a" ? ["wiki_a_front_end"] : of.startsWith("shop") ? ["shop_a_own"] : [],
          ),
        isSeparate: (of) => of === "apart",
        ownersOf: (of) => {
          const source = owners[of];
          const here = source === undefined ? undefined : { source, reference: "" };
          return Promise.resolve({ here, elsewhere });
        },
      },
      { source: OURS, reference: "" },
      new AbortController().signal,
    );
  };

  it("refuses one of a stack of another source, which gave it the name of this stack's", async () => {
    const message = "networks.default: network shop_default is stack wiki's, which runs from " +
      "host/them/wiki, and was not joined; give the network another name, or say that it is shared on " +
      "purpose: networks.default.external: true";
    await assert.rejects(join(labels("wiki", THEIRS)), { code: "conflict", message });
    const lies = [{ source: OURS, reference: "" }];
    await assert.rejects(join(labels("wiki", THEIRS), {}, {}, lies), { code: "conflict", message });
    const unmanaged = { "com.docker.compose.project": "wiki" };
    await assert.rejects(join(unmanaged, {}, { wiki: THEIRS }), { code: "conflict", message });
    const inSwarm = { "com.docker.stack.namespace": "wiki" };
    await assert.rejects(join(inSwarm, {}, { wiki: THEIRS }), { code: "conflict", message });
    await join(unmanaged);
  });

  it("refuses to make one that another owner's recorded stack defines and that is not there", async () => {
    const network = { name: "wiki_a_front_end" };
    const theirs = { wiki_a: THEIRS };
    const message =
      "networks.default: network wiki_a_front_end is stack wiki_a's, which runs from " +
      "host/them/wiki, and is not there now, so it was not made; give the network another name, or " +
      "share it when it is there: networks.default.external: true";
    await assert.rejects(join({}, network, theirs, [], false), { code: "conflict", message });
    await join({}, network, { wiki_a: OURS }, [], false);
    await join({}, { ...network, external: true }, theirs, [], false);
    await join({}, { name: "wiki_a_other" }, theirs, [], false);
    await join(labels("wiki_a", THEIRS), network, theirs);
  });

  it("lets the stack make anew what its own release defines, whoever says that it defines it, too", async () => {
    await join({}, { name: "wiki_a_front_end" }, { wiki_a: THEIRS }, [], false).then(
      () => assert.fail(),
      (error) => assert.equal(error.code, "conflict"),
    );
    await join({}, { name: "shop_a_own" }, { shop_a: THEIRS }, [], false);
  });

  it("lets the stack's own be, its source's, and what authors name or call external", async () => {
    await join(labels("shop", THEIRS));
    await join(labels("wiki", OURS));
    await join({});
    await join(labels("wiki", THEIRS), { external: true });
    await join(labels("wiki", THEIRS), { name: "proxy" });
  });
});
