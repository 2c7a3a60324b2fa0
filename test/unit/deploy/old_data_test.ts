import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findOldData } from "../../../src/deploy/old_data.ts";
import type { Engine } from "../../../src/docker/mod.ts";
import {
  COMPOSE_LABELS,
  type ComposeModel,
  LABELS,
  MANAGER,
  type ObservedContainer,
  stackKey,
} from "../../../src/model/mod.ts";
import { longestStretch } from "../processor_time.ts";

const LIVE = "/ours/releases/default/shop/live";
const never = new AbortController().signal;
/** An engine of which nothing is wanted: the list of a stack's containers tells of their mounts. */
const NOT_ASKED = {} as Engine;
const PLACE = { key: stackKey("", "shop"), dataDir: "/ours" };

describe("findOldData()", () => {
  it("finds what moves, without what is in it, and the containers that may write there", async () => {
    const bind = (source: string, destination: string, writable = true) => (
      { source, destination, writable }
    );
    const binds: Readonly<Record<string, unknown[]>> = {
      web: [
        bind("/home/a/data", "/data/"),
        bind("/home/a/data/in", "/in"),
        bind(`${LIVE}/c`, "/c"),
      ],
      db: [bind("/home/a", "/everything"), bind("/home/a/db", "/db", false)],
      other: [bind("/home/a/data", "/x", false), bind("/home/ab", "/y")],
      ended: [bind("/home/a/data", "/x")],
    };
    const containers = Object.entries(binds).map(([id, binds]) => (
      { id, service: id, labels: {}, state: id === "ended" ? "exited" : "running", binds }
    )) as unknown as ObservedContainer[];
    const volume = (path: string, target: string) => (
      { type: "bind", source: `${LIVE}/${path}`, target }
    );
    const model = {
      services: {
        web: { volumes: [volume("data", "/data"), volume("data/in", "/in"), volume("c", "/c")] },
        db: { volumes: [volume("db", "/db"), { type: "bind", source: "/home/a", target: "/x" }] },
      },
    } as unknown as ComposeModel;
    const place = { ...PLACE, model };
    const found = await findOldData(NOT_ASKED, place, { containers }, never);
    assert.deepEqual(
      found.map(({ writers, container: _, isInUse: __, holders: ___, ...each }) => ({
        ...each,
        writers: writers.map(({ id }) => id),
      })),
      [
        {
          ...{ service: "web", target: "/data", source: "/home/a/data", path: "data" },
          ...{ writable: true, writers: ["web", "db"] },
        },
        {
          ...{ service: "db", target: "/db", source: "/home/a/db", path: "db" },
          ...{ writable: false, writers: ["db"] },
        },
      ],
    );
  });

  it("does not stop the service with as many and deep mounts as files may have", async () => {
    const services = ["a", "b"].map((service) => {
      const volumes = Array.from({ length: 540 }, (_, at) => {
        const path = `${service}${"/p".repeat(190 + at % 50)}/${at}`;
        return { type: "bind", source: `${LIVE}/${path}`, target: `/t/${at}` };
      });
      return [service, { volumes }] as const;
    });
    const containers = services.map(([service, { volumes }]) => (
      {
        ...{ id: service, service, labels: {}, state: "exited" },
        binds: volumes.map(({ target }) => (
          { source: `/old${target}`, destination: target, writable: true }
        )),
      }
    )) as unknown as ObservedContainer[];
    const model = { services: Object.fromEntries(services) } as unknown as ComposeModel;
    let found = 0;
    const longest = await longestStretch(async () => {
      const data = await findOldData(NOT_ASKED, { ...PLACE, model }, { containers }, never);
      found = data.length;
    });
    assert.equal(found, 1080);
    assert.ok(longest < 500, `${longest} ms`);
  });

  it("finds what a container of ours has in another data directory, and in no other place", async () => {
    const theirs = "/before/releases/nas/shop/live";
    const sources: Readonly<Record<string, string>> = {
      "/moved": `${theirs}/data`,
      "/here": `${LIVE}/here`,
      "/context": "/ours/releases/nas/shop/live/context",
      "/other": "/before/releases/default/other/live/other",
      "/absolute": "/srv/absolute",
      "/current": "/before/releases/default/shop/current/current",
    };
    const binds = Object.entries(sources).map(([destination, source]) => (
      { source, destination, writable: true }
    ));
    const labels = { [LABELS.manager]: MANAGER, [LABELS.sourceName]: "h/o/r" };
    const containers = [
      { id: "web", service: "old", labels, state: "running", binds },
    ] as unknown as ObservedContainer[];
    const volumes = ["data", "here", "context", "other", "absolute", "current"].map((path) => (
      { type: "bind", source: `${LIVE}/${path}`, target: `/new/${path}` }
    ));
    const place = { ...PLACE, model: { services: { web: { volumes } } } as ComposeModel };
    const found = await findOldData(NOT_ASKED, place, { containers }, never);
    assert.deepEqual(
      found.map(({ writers, container: _, isInUse: __, holders: ___, ...each }) => ({
        ...each,
        writers: writers.length,
      })),
      [
        {
          ...{ service: "web", target: "/moved", source: `${theirs}/data`, path: "data" },
          ...{ writable: true, writers: 1, owner: "h/o/r" },
        },
      ],
    );
  });

  it("finds by its path in the copy of the repository what another service has, at first", async () => {
    const labels = { [COMPOSE_LABELS.workingDirectory]: "/old/o/r/in/dir" };
    const bind = (source: string, destination: string) => ({ source, destination, writable: true });
    const binds = [
      bind("/old/o/r/in/dir/data/", "/a"),
      bind("/old/o/r/data", "/b"),
      bind("/old/o/r/in/dir/old", "/new/same"),
      bind("/srv/in/dir/absolute", "/c"),
    ];
    const one = { id: "one", service: "app", labels, state: "running", binds };
    const unlabelled = { ...one, id: "two", labels: {}, binds: [bind("/in/dir/single", "/d")] };
    const paths = ["data", "in/dir/absolute", "in/dir/data", "in/dir/single"];
    const volumes = [...paths, "in/dir/same"].map((path) => (
      { type: "bind", source: `${LIVE}/${path}`, target: `/new/${path.split("/").at(-1)}` }
    ));
    const model = { services: { app: { volumes: volumes.slice(4) }, web: { volumes } } };
    const place = { ...PLACE, model: model as unknown as ComposeModel, workingDir: "in/dir" };
    const sources = async (more: readonly unknown[]) => {
      const containers = [one, unlabelled, ...more] as unknown as ObservedContainer[];
      const found = await findOldData(NOT_ASKED, place, { containers }, never);
      return found.filter((each) => !each.isAssumed)
        .map(({ service, source, path }) => `${service}: ${source} to ${path}`).sort();
    };
    const renamed = "app: /old/o/r/in/dir/old to in/dir/same";
    assert.deepEqual(await sources([]), [
      renamed,
      "web: /old/o/r/data to data",
      "web: /old/o/r/in/dir/data/ to in/dir/data",
    ]);
    const ours = { ...one, id: "ours", service: "web", binds: [] };
    const made = { ...ours, labels: { [LABELS.manager]: MANAGER } };
    assert.deepEqual(await sources([made]), [renamed]);
  });

  /** What is found of `services`, from old ones in a directory: mounts of each, as `SOURCE:TARGET`. */
  async function bothOf(
    { directory, workingDir, old, services }: {
      readonly directory: string;
      readonly workingDir: string;
      readonly old: Readonly<Record<string, readonly string[]>>;
      readonly services: Readonly<Record<string, readonly string[]>>;
    },
  ) {
    const labels = { [COMPOSE_LABELS.workingDirectory]: directory };
    const split = (mounts: readonly string[], add: (source: string, target: string) => unknown) =>
      mounts.map((mount) => add(...mount.split(":") as [string, string]));
    const containers = Object.entries(old).map(([service, mounts]) => ({
      ...{ id: service, service, labels, state: "running" },
      binds: split(mounts, (source, destination) => ({ source, destination, writable: true })),
    })) as unknown as ObservedContainer[];
    const model = {
      services: Object.fromEntries(
        Object.entries(services).map(([service, mounts]) => [service, {
          volumes: split(mounts, (path, target) => (
            { type: "bind", source: `${LIVE}/${path}`, target }
          )),
        }]),
      ),
    } as unknown as ComposeModel;
    const found = await findOldData(
      ...[NOT_ASKED, { ...PLACE, model, workingDir }, { containers }, never] as const,
    );
    const [assumed = [], had = []] = [true, undefined].map((is) =>
      found.filter(({ isAssumed }) => isAssumed === is).map(({ path, source }) => [path, source])
    );
    return { had: Object.fromEntries(had), assumed: Object.fromEntries(assumed) };
  }

  type Facts = Parameters<typeof bothOf>[0];
  const foundOf = async (facts: Facts) => (await bothOf(facts)).had;

  it("assumes what no container mounts to be in the copy of the repository that others were made in", async () => {
    const old = { app: ["/o/r/in/a:/a"], none: [] };
    const services = { app: ["in/a:/a"], web: ["in/a/deep:/x", "in/b:/b", "c:/c"] };
    const root = { directory: "/o/r/in", workingDir: "in", old, services };
    assert.deepEqual(await bothOf(root), {
      had: { "in/a": "/o/r/in/a" },
      assumed: { "in/b": "/o/r/in/b", c: "/o/r/c" },
    });
    // All around the directory of a stack that was moved is another's.
    assert.deepEqual(await bothOf({ ...root, directory: "/o/r/before" }), {
      had: { "in/a": "/o/r/in/a" },
      assumed: { "in/b": "/o/r/before/b" },
    });
    const { assumed } = await bothOf({ ...root, directory: "/", workingDir: "." });
    assert.deepEqual(assumed["in/b"], "/in/b");
  });

  it("takes no absolute mount for a relative one since their paths end alike", async () => {
    const media = { app: ["/tmp/x/old/o/one/media:/config", "/tmp/x/media:/media"] };
    const root = { directory: "/tmp/x/old/o/one", workingDir: "." };
    const same = { ...root, old: media, services: { app: ["media:/config"] } };
    assert.deepEqual(await foundOf(same), { media: "/tmp/x/old/o/one/media" });
    const renamed = { ...same, services: { web: ["media:/config"] } };
    assert.deepEqual(await foundOf(renamed), { media: "/tmp/x/old/o/one/media" });
    const [config, absolute] = ["/tmp/x/old/o/two/jelly/config:/config", "/tmp/x/jelly/config:/a"];
    const jelly = { directory: "/tmp/x/old/o/two/jelly", workingDir: "jelly" };
    const services = { app: ["jelly/config:/config"] };
    const right = { "jelly/config": "/tmp/x/old/o/two/jelly/config" };
    for (const name of ["aaa", "old"]) {
      const two = { ...jelly, old: { app: [config], [name]: [absolute] }, services };
      assert.deepEqual(await foundOf(two), right);
      assert.deepEqual(await foundOf({ ...two, old: { [name]: [absolute] } }), {});
    }
    // A working directory that does not end so is not that of the same place: all around it is another's.
    const moved = { ...jelly, workingDir: "new", services: { web: ["new/config:/x", "o:/o"] } };
    assert.deepEqual(await foundOf({ ...moved, old: { app: [config, "/tmp/x/old/o:/o"] } }), {
      "new/config": "/tmp/x/old/o/two/jelly/config",
    });
  });

  it("prefers the place of the service itself, but not to what is of another path", async () => {
    const root = { directory: "/r", workingDir: "." };
    const services = { app: ["data:/data"] };
    const absolute = { app: ["/srv/db:/data"], gone: ["/r/data:/backup"] };
    assert.deepEqual(await foundOf({ ...root, old: absolute, services }), { data: "/srv/db" });
    const swapped = {
      ...{ ...root, old: { app: ["/r/a:/a", "/r/b:/b"] } },
      services: { app: ["a:/b", "b:/a"] },
    };
    assert.deepEqual(await foundOf(swapped), { a: "/r/a", b: "/r/b" });
    const viewed = {
      ...{ ...root, old: { app: ["/r/data:/data"], view: ["/srv/v:/v"] } },
      services: { app: ["data:/data"], view: ["data:/v"] },
    };
    assert.deepEqual(await foundOf(viewed), { data: "/r/data" });
  });

  it("leaves out what is copied with what is around it, but not what is mounted into it", async () => {
    const root = { directory: "/r", workingDir: "." };
    const services = { app: ["data:/data", "data/m:/data/m"] };
    const within = { ...root, old: { app: ["/r/data:/data", "/r/data/m:/data/m"] }, services };
    assert.deepEqual(await foundOf(within), { data: "/r/data" });
    for (const source of ["/srv/m", "/r/data/other"]) {
      const into = { ...root, old: { app: ["/r/data:/data", `${source}:/data/m`] }, services };
      assert.deepEqual(await foundOf(into), { data: "/r/data", "data/m": source });
    }
  });

  it("asks for the stack's containers, once, where they are from a list of everybody's", async () => {
    const listed: unknown[] = [];
    const theirs = (number: number) => (
      { id: `${number}`, service: "web", labels: { [COMPOSE_LABELS.number]: "1" } }
    );
    const binds = [{ source: "/home/a/data", destination: "/data", writable: true }];
    const engine = {
      listContainers(filter: unknown) {
        listed.push(filter);
        return Promise.resolve([{ ...theirs(1), binds }]);
      },
    } as unknown as Engine;
    const containers = [1, 2].map(theirs) as unknown as ObservedContainer[];
    const volumes = [{ type: "bind", source: `${LIVE}/data`, target: "/data" }];
    const place = { ...PLACE, model: { services: { web: { volumes } } } as ComposeModel };
    const found = await findOldData(engine, place, { containers }, never);
    assert.deepEqual(found.map(({ source }) => source), ["/home/a/data"]);
    assert.deepEqual(listed, [{ [COMPOSE_LABELS.project]: "shop" }]);
  });
});
