import assert from "node:assert/strict";
import { mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { KnownMount, Looked } from "../../../src/deploy/mod.ts";
import type { PlaceParts } from "../../../src/prepare/our_places.ts";
import { requireNothingOurs } from "../../../src/prepare/real_mounts.ts";
import { systemFiles } from "../../../src/system/mod.ts";

const never = new AbortController().signal;
const OWN = "0123456789abcdef".repeat(4);
const OURS = /mounts data or secrets of Stackwright/;

describe("requireNothingOurs()", () => {
  let root: string;
  let dataDir: string;
  before(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "swt-real-mounts-")));
    dataDir = join(root, "data");
    await mkdir(join(dataDir, "releases/default/shop/live/own"), { recursive: true });
    await mkdir(join(dataDir, "sources/tree/conf"), { recursive: true });
    await mkdir(join(root, "around"));
    await symlink("../../../sources/tree", join(dataDir, "releases/default/shop/current"));
    await symlink(dataDir, join(root, "around/link"));
    await symlink(dataDir, join(dataDir, "releases/default/shop/live/out"));
    await symlink(dataDir, join(dataDir, "sources/tree/out"));
  });
  after(() => rm(root, { recursive: true }));

  const bind = (source: string): KnownMount => ({ kind: "bind", name: "", source });
  const volume = (name: string): KnownMount => ({ kind: "volume", name, source: "/v/_data" });
  const check = (
    mounts: readonly KnownMount[],
    more: Partial<Looked> & { own?: string; others?: string[] } = {},
  ) => {
    const calls: string[] = [];
    const device = { type: "none", o: "bind", device: join(root, "around/link") };
    const volumes = [
      { id: "leads", name: "leads", driver: "local", labels: {}, options: device },
      { id: "plain", name: "plain", driver: "local", labels: {} },
    ];
    const parts: PlaceParts = {
      files: systemFiles,
      host: {
        engine: {
          findVolumes: (names) => {
            calls.push(`volumes ${names.join()}`);
            return Promise.resolve(volumes.filter(({ name }) => names.includes(name)));
          },
          everyVolume: () => assert.fail("all volumes are asked for"),
          inspectContainer: (name) => {
            const all = [more.own ?? "", ...more.others ?? []].filter((each) => each !== "");
            const id = all.find((each) => each === name) ??
              all.find((each) => each.startsWith(name)) ??
              (name === "stackwright" ? more.own : undefined);
            return Promise.resolve(
              id === undefined ? undefined : { container: { id }, mounts: [] } as never,
            );
          },
        },
        dataDir,
        isHere: () => Promise.resolve(true),
        own: () =>
          Promise.resolve(
            more.own === undefined
              ? undefined
              : { container: { id: more.own, name: "stackwright" }, mounts: [] } as never,
          ),
      },
      options: { dataDir, protectedPaths: [] },
    };
    const looked = { stack: "shop", what: "container shop-web-1", isOurs: true, mounts, ...more };
    return { calls, done: requireNothingOurs(parts, looked, never) };
  };

  it("lets pass a stack's own files and what a model may mount", async () => {
    const own = join(dataDir, "releases/default/shop");
    const { calls, done } = check([
      ...[join(own, "live/own"), join(own, "current/conf"), root, "/etc"].map(bind),
      volume("plain"),
    ]);
    await done;
    assert.deepEqual(calls, ["volumes plain"]);
    const none = check([{ kind: "tmpfs", name: "", source: "" }]);
    await none.done;
    assert.deepEqual(none.calls, []);
  });

  it("refuses our places, however they are mounted", async () => {
    const own = join(dataDir, "releases/default/shop");
    for (const path of [dataDir, join(dataDir, "sources"), join(root, "around/link/sources")]) {
      await assert.rejects(check([bind(path)]).done, OURS);
    }
    await assert.rejects(check([volume("leads")]).done, OURS);
    await assert.rejects(
      check([bind(join(own, "live/out"))]).done,
      /leads out of the stack's live/,
    );
    await assert.rejects(check([bind(join(own, "current/out"))]).done, OURS);
  });

  it("lets a person's container mount what that person wrote, and follows no link for it", async () => {
    const theirs = { isOurs: false };
    await check([bind(dataDir), bind(join(dataDir, "sources"))], theirs).done;
    await assert.rejects(check([bind(join(root, "around/link"))], theirs).done, OURS);
    await assert.rejects(check([volume("leads")], theirs).done, OURS);
  });

  it("refuses to share our namespaces, by name or by id", async () => {
    for (const name of ["stackwright", OWN, OWN.slice(0, 12)]) {
      for (const key of ["NetworkMode", "PidMode", "IpcMode"]) {
        const { done } = check([], { own: OWN, host: { [key]: `container:${name}` } });
        await assert.rejects(done, /is Stackwright itself/);
      }
    }
    await check([], { own: OWN, host: { NetworkMode: "container:other" } }).done;
    // As for a model: the engine prefers a container that has the name, which may be gone by then.
    const [name] = [OWN.slice(0, 2)];
    const named = check([], {
      ...{ own: OWN, others: [name], host: { NetworkMode: `container:${name}` } },
    });
    await assert.rejects(
      named.done,
      /has a name that begins the id of Stackwright's own container/,
    );
  });
});
