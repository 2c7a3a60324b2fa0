import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { dataElsewhere, newVolumes } from "../../../src/deploy/data_elsewhere.ts";
import type { ContainerMounts } from "../../../src/docker/container_mounts.ts";
import type { ContainerMount } from "../../../src/docker/engine.ts";
import { type ComposeModel, errors, LABELS, MANAGER, stackKey } from "../../../src/model/mod.ts";

const never = new AbortController().signal;
const RELEASE = {
  key: stackKey("", "shop"),
  revision: { source: { name: "github.com/acme/ops" } },
  services: [{ name: "db", image: "docker.io/library/postgres:17", builds: false }],
} as unknown as Parameters<typeof dataElsewhere>[1];
const PLACE = { service: "db", target: "/d/", place: "shop_data", kind: "volume" } as const;
const OLD: ContainerMounts = {
  ...{ id: "1", name: "old-db-1", state: "running", image: "postgres:16", deployment: "" },
  ...{ project: "old", service: "db", isOneOff: false, mounts: ["old_data"], peer: "" },
};
const VOLUME: ContainerMount = {
  ...{ kind: "volume", name: "old_data", source: "/var/lib/x", destination: "/d", writable: true },
};
const TOLD =
  "/d/ begins empty: container old-db-1 of project old has the same service and image and was not made by " +
  "Stackwright; what it has there in volume old_data stays there; if that is what this service was, and it is " +
  "to go on with it, stop that container " +
  "before, and name that volume in the compose file (external: true, name: old_data)";

/** What is said of the place where a container of these facts is there. */
async function told(
  { of = {}, mount = {}, labels = {}, before = {}, place = {} }: {
    readonly of?: Partial<ContainerMounts>;
    readonly mount?: Partial<ContainerMount>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly before?: ComposeModel;
    readonly place?: Partial<Parameters<typeof dataElsewhere>[2]["places"][0]>;
  } = {},
): Promise<string[]> {
  const listed = { ...OLD, ...of };
  const engine = {
    containerMounts: () => Promise.resolve([listed]),
    inspectContainer: () =>
      Promise.resolve({
        container: { name: listed.name, service: listed.service, labels },
        mounts: [{ ...VOLUME, ...mount }],
      }),
  };
  const asked = { places: [{ ...PLACE, ...place }], before: () => before };
  const host = { engine } as unknown as Parameters<typeof dataElsewhere>[0]["host"];
  return (await dataElsewhere({ host }, RELEASE, asked, never)).map(({ text }) => text);
}

describe("dataElsewhere()", () => {
  it("names what a container of the same service and image has at the place", async () => {
    assert.deepEqual(await told(), [TOLD]);
    // The name of the image has gone to another one since.
    assert.deepEqual(await told({ of: { image: "sha256:0123" } }), [TOLD]);
    const path = await told({ mount: { kind: "bind", source: "/srv/d" } });
    assert.match(path.join(), /what it has there in \/srv\/d stays there/);
    const copied = await told({ place: { kind: "bind", place: "/ours/live/d" } });
    assert.match(copied.join(), /stop that container before, and copy it to \/ours\/live\/d$/);
  });

  const UNLIKE: Readonly<Record<string, Parameters<typeof told>[0]>> = {
    "is of the stack itself": { of: { project: "shop" } },
    "is of no project": { of: { project: "" } },
    "is of another service": { of: { service: "web" } },
    "has another image": { of: { image: "mariadb:11" } },
    "is a one-off": { of: { isOneOff: true } },
    "is Stackwright's": { of: { deployment: "old" } },
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
    const host = { engine } as unknown as Parameters<typeof dataElsewhere>[0]["host"];
    await dataElsewhere({ host }, RELEASE, { places: [PLACE], before: () => ({}) }, never);
    assert.deepEqual(asked.slice(0, 4), ["31", "32", "30", "0"]);
    assert.equal(asked.length, 20);
  });

  it("says nothing where the engine has more containers than are read", async () => {
    const engine = { containerMounts: () => Promise.reject(errors.engine_refused("too many")) };
    const host = { engine } as unknown as Parameters<typeof dataElsewhere>[0]["host"];
    const asked = { places: [PLACE], before: () => undefined };
    assert.deepEqual(await dataElsewhere({ host }, RELEASE, asked, never), []);
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
