import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { dataElsewhere, newVolumes, sharedPlaces } from "../../../src/deploy/data_elsewhere.ts";
import type { ContainerMounts } from "../../../src/docker/container_mounts.ts";
import type { ContainerMount } from "../../../src/docker/engine.ts";
import { type ComposeModel, errors, LABELS, MANAGER, stackKey } from "../../../src/model/mod.ts";

const never = new AbortController().signal;
type Parts = Parameters<typeof dataElsewhere>[0];
type Asked = Parameters<typeof dataElsewhere>[2];
const RELEASE = {
  key: stackKey("", "shop"),
  revision: { source: { name: "github.com/acme/ops" } },
  workingDir: "shop",
  services: [{ name: "db", image: "docker.io/library/postgres:17", builds: false }],
} as unknown as Parameters<typeof dataElsewhere>[1];
const PLACE = { service: "db", target: "/d/", place: "shop_data", kind: "volume" } as const;
const OLD: ContainerMounts = {
  ...{ id: "1", name: "old-db-1", state: "running", image: "postgres:16", deployment: "" },
  ...{ project: "old", service: "db", isOneOff: false, mounts: ["old_data"], peer: "" },
  directory: "/src/old",
};
const VOLUME: ContainerMount = {
  ...{ kind: "volume", name: "old_data", source: "/var/lib/x", destination: "/d", writable: true },
};
const TOLD =
  "/d/ begins empty: container old-db-1 of project old, which Stackwright did not make, has the same service " +
  "and image; what it has there in volume old_data stays there; if that is what this service was, and it is " +
  "to go on with it, stop that container " +
  "and name that volume in the compose file (external: true, name: old_data)";
const OWNER = { source: "github.com/acme/ops", target: "", reference: "refs/heads/main" };
/** A stack that the configuration named once. */
const UNNAMED = { key: stackKey("", "old"), owner: OWNER, repository: "", directory: "shop" };

/** What is said of the place where a container of these facts is there. */
async function told(
  { of = {}, mount = {}, labels = {}, before = {}, place = {}, ...more }: {
    readonly of?: Partial<ContainerMounts>;
    readonly mount?: Partial<ContainerMount>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly before?: ComposeModel;
    readonly place?: Partial<Asked["places"][0]>;
    readonly beside?: readonly ContainerMounts[];
    readonly named?: readonly string[];
    readonly unnamed?: Asked["neighbours"]["unnamed"];
    readonly shared?: Asked["shared"];
    /** Paths at which this process sees something. */
    readonly seen?: readonly string[];
  } = {},
): Promise<string[]> {
  const listed = { ...OLD, ...of };
  const engine = {
    containerMounts: () => Promise.resolve([...more.beside ?? [], listed]),
    inspectContainer: (id: string) =>
      Promise.resolve({
        container: {
          name: [...more.beside ?? [], listed].find((each) => each.id === id)?.name,
          ...{ service: listed.service, state: listed.state, labels },
        },
        mounts: [{ ...VOLUME, ...mount }],
      }),
  };
  const asked = {
    places: more.shared === undefined ? [{ ...PLACE, ...place }] : [],
    shared: more.shared ?? [],
    neighbours: {
      named: (more.named ?? []).map((name) => stackKey("", name)),
      unnamed: more.unnamed ?? [],
    },
    before: () => before,
  };
  const parts = {
    host: { engine, dataDir: "/ours", localPath: (path: string) => Promise.resolve(path) },
    files: {
      stat: (path: string) =>
        Promise.resolve(more.seen?.includes(path) ? { kind: "file" } : undefined),
    },
  } as unknown as Parts;
  return (await dataElsewhere(parts, RELEASE, asked, never)).map(({ text }) => text);
}

describe("dataElsewhere()", () => {
  it("names what a container of the same service and image has at the place", async () => {
    assert.deepEqual(await told(), [TOLD]);
    // The name of the image has gone to another one since.
    assert.deepEqual(await told({ of: { image: "sha256:0123" } }), [TOLD]);
    const path = await told({ mount: { kind: "bind", source: "/srv/d" } });
    assert.match(path.join(), /what it has there in \/srv\/d stays there/);
    const copied = await told({ place: { kind: "bind", place: "/ours/live/d" } });
    assert.match(
      copied.join(),
      /stop that container and this stack, and copy it to \/ours\/live\/d$/,
    );
  });

  const UNLIKE: Readonly<Record<string, Parameters<typeof told>[0]>> = {
    "is of the stack itself": { of: { project: "shop" } },
    "is of no project": { of: { project: "" } },
    "is of another service": { of: { service: "web" } },
    "has another image": { of: { image: "mariadb:11" } },
    "is a one-off": { of: { isOneOff: true } },
    "is of a stack that the configuration names": { named: ["old"] },
    "is Stackwright's": { of: { deployment: "old" } },
    "is Stackwright's by its label alone": {
      of: { deployment: "old" },
      unnamed: [UNNAMED],
    },
    "is Stackwright's by its mark": { labels: { [LABELS.manager]: MANAGER } },
    "mounts it elsewhere": { mount: { destination: "/e" } },
    "cannot write there": { mount: { kind: "bind", source: "/srv/d", writable: false } },
    "mounts a socket": { mount: { kind: "bind", source: "/run/docker.sock" } },
    "is of a service that is deployed": { before: { services: { db: {} } } as ComposeModel },
  };
  for (const [why, facts] of Object.entries(UNLIKE)) {
    it(`says nothing of a container that ${why}`, async () => {
      assert.deepEqual(await told(facts), []);
    });
  }

  it("looks at those first that doco-cd made from the same repository", async () => {
    const peers = [
      ...Array(30).fill(""),
      ...["https://a.b/c", "https://github.com/acme/ops.git", "git@github.com:acme/ops"],
    ];
    const listed = peers.map((peer, at) => ({ ...OLD, id: `${at}`, name: `n${at}`, peer }));
    const asked: string[] = [];
    const engine = {
      containerMounts: () => Promise.resolve(listed),
      inspectContainer: (id: string) => Promise.resolve(void asked.push(id)),
    };
    await dataElsewhere({ host: { engine, dataDir: "/ours" } } as unknown as Parts, RELEASE, {
      ...{ places: [PLACE], shared: [], neighbours: { named: [], unnamed: [] } },
      before: () => ({}),
    }, never);
    assert.deepEqual(asked.slice(0, 4), ["31", "32", "30", "0"]);
    assert.equal(asked.length, 20);
  });

  it("says nothing where the engine has more containers than are read", async () => {
    const engine = { containerMounts: () => Promise.reject(errors.engine_refused("too many")) };
    const parts = { host: { engine, dataDir: "/ours" } } as unknown as Parts;
    const asked = {
      ...{ places: [PLACE], shared: [], neighbours: { named: [], unnamed: [] } },
      before: () => undefined,
    };
    assert.deepEqual(await dataElsewhere(parts, RELEASE, asked, never), []);
  });

  it("names what a stack has that Stackwright made and that the configuration names no more", async () => {
    const old = { of: { deployment: "old" }, labels: { [LABELS.manager]: MANAGER } };
    const said = await told({ ...old, unnamed: [UNNAMED] });
    const who = "container old-db-1 of stack old, which nothing names any more, has the same";
    assert.ok(said.length === 1 && said[0]?.includes(who), said.join());
    const elsewhere = { ...UNNAMED, key: stackKey("nas", "old") };
    assert.deepEqual(await told({ ...old, unnamed: [elsewhere] }), []);
  });

  it("names the likeliest alone, and what two containers have once", async () => {
    const peer = "https://github.com/acme/ops.git";
    const others = [
      { ...OLD, id: "2", name: "other", project: "other" },
      { ...OLD, id: "3", name: "sibling", project: "sibling", peer, directory: "/d/b" },
    ];
    const own = { peer, directory: "/data/github.com/acme/ops/shop" };
    const twice = [...others, { ...OLD, ...own, id: "4", name: "ab12_old-db-1" }];
    for (const beside of [others, twice]) {
      const said = await told({ of: own, beside });
      assert.equal(said.length, 1);
      assert.match(said[0] ?? "", /container (?:ab12_)?old-db-1 of project old,/);
    }
    assert.match((await told({ beside: others })).join(), /container sibling of project sibling,/);
  });

  it("names the volume that such a container writes to as well, unless it goes", async () => {
    const shared = [{ ...PLACE, place: "old_data" }];
    const said = "/d/ is volume old_data, which container old-db-1 of project old, which " +
      "Stackwright did not make, has, too: both write to it; if that is what this service was, " +
      "stop that container";
    assert.deepEqual(await told({ shared }), [said]);
    assert.deepEqual(await told({ shared, of: { state: "exited" } }), []);
    assert.deepEqual(await told({ shared, mount: { writable: false } }), []);
    assert.deepEqual(await told({ shared: [PLACE] }), []);
    const old = { of: { deployment: "old" }, labels: { [LABELS.manager]: MANAGER }, shared };
    assert.equal((await told({ ...old, unnamed: [UNNAMED] })).length, 1);
    const policy = { delete: true, removeVolumes: false, removeImages: false };
    assert.deepEqual(await told({ ...old, unnamed: [{ ...UNNAMED, policy }] }), []);
  });

  it("names what lies at its path in the copy that others of the repository were made in", async () => {
    const root = "/old/github.com/acme/ops";
    const web = {
      ...OLD,
      ...{ id: "2", name: "web-1", project: "web", service: "web", directory: `${root}/web` },
      peer: "git@github.com:acme/ops.git",
    };
    const place = {
      kind: "bind",
      place: "/ours/releases/default/shop/live/shop/d",
    } as const;
    const asked = { beside: [web], place, named: ["web"] };
    assert.deepEqual(await told({ ...asked, seen: [`${root}/shop/d`] }), [
      `/d/ begins empty: no container of shop is there, and what ${root}/shop/d holds stays there ` +
      "(in the copy of the repository that container web-1 was made in); if it is to go on with " +
      `it, stop the stack and copy it to ${place.place}`,
    ]);
    // Then another stack's container of the service is not what it was.
    assert.match((await told(asked)).join(), /container old-db-1 of project old/);
    const theirs = [{ ...web, peer: "https://github.com/acme/other" }];
    assert.doesNotMatch(
      (await told({ ...asked, beside: theirs, seen: [`${root}/shop/d`] })).join(),
      /in the copy of the repository/,
    );
  });
});

describe("sharedPlaces()", () => {
  it("are what services write to by a name or path that others may know", () => {
    const volumes = [
      ...[{ type: "volume", source: "v", target: "/v" }, { type: "volume", target: "/none" }],
      { type: "volume", source: "v", target: "/r", read_only: true },
      { type: "bind", source: "/srv", target: "/srv" },
      { type: "bind", source: "/var/run/docker.sock", target: "/s" },
    ];
    const model = { services: { db: { volumes } }, volumes: { v: { name: "shop_v" } } };
    assert.deepEqual(sharedPlaces({ model: model as unknown as ComposeModel }, new Set(["db"])), [
      { service: "db", target: "/v", place: "shop_v", kind: "volume" },
      { service: "db", target: "/srv", place: "/srv", kind: "bind" },
    ]);
  });
});

describe("newVolumes()", () => {
  it("are those that are not there, that the stack makes here", async () => {
    const volumes = ["made", "there", "theirs", "share", "plugin"].map((source) => (
      { type: "volume", source, target: `/${source}` }
    ));
    const model = {
      services: { db: { volumes }, other: { volumes } },
      volumes: {
        ...{ made: { name: "shop_made" }, there: { name: "shop_there" } },
        theirs: { name: "theirs", external: true },
        share: { name: "shop_share", driver_opts: { type: "nfs" } },
        plugin: { name: "shop_plugin", driver: "rclone" },
      },
    } as unknown as ComposeModel;
    const asked: (readonly string[])[] = [];
    const findVolumes = (names: readonly string[]) => {
      asked.push(names);
      return Promise.resolve([{ name: "shop_there" }]);
    };
    const host = { engine: { findVolumes } } as unknown as Parameters<typeof newVolumes>[0]["host"];
    assert.deepEqual(await newVolumes({ host }, { model }, new Set(["db"]), never), [
      { service: "db", target: "/made", place: "shop_made", kind: "volume" },
    ]);
    assert.deepEqual(await newVolumes({ host }, { model }, new Set(["none"]), never), []);
    assert.deepEqual(asked, [["shop_made", "shop_there"]]);
  });
});
