import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { ContainerMount } from "../../../src/docker/engine_facts.ts";
import type { ComposeModel } from "../../../src/model/mod.ts";
import { type PrepareParts, requireApart } from "../../../src/prepare/mod.ts";
import { systemFiles } from "../../../src/system/mod.ts";

const never = new AbortController().signal;
const DATA = "/var/lib/stackwright";
const LIVE = `${DATA}/releases/default/shop/live`;

const bind = (source: string, target: string, more = {}) => ({
  ...{ type: "bind", source, target, ...more },
});
const volume = (source: string, target: string, more = {}) => ({
  ...{ type: "volume", source, target, ...more },
});

/** A container that runs, or does not, with a bind mount that it may write to. */
interface Other {
  readonly source: string;
  readonly state?: string;
  readonly writable?: boolean;
}

describe("requireApart()", () => {
  let directory = "";
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "swt-apart-"));
    await mkdir(join(directory, "srv"));
    await symlink("srv", join(directory, "alias"));
  });
  after(() => rm(directory, { recursive: true }));

  function look(model: ComposeModel, other?: Other) {
    const mounts = [{ kind: "bind", writable: true, name: "", destination: "/x", ...other }];
    const led = {
      name: "led",
      labels: {},
      driver: "local",
      options: { device: `${LIVE}/data/sub`, o: "bind", type: "none" },
    };
    const engine = {
      everyContainer: (of: (container: object) => string | undefined) => {
        const id = of({ id: "o", service: "", labels: {}, state: other?.state ?? "running" });
        return Promise.resolve(id === undefined ? [] : [id]);
      },
      inspectContainer: () =>
        Promise.resolve({
          container: { name: "other" },
          mounts: other === undefined ? [] : mounts as readonly ContainerMount[],
        }),
      findVolumes: (names: readonly string[]) =>
        Promise.resolve(names.includes("led") ? [led] : []),
    };
    const parts = {
      files: systemFiles,
      host: { engine, sharesFiles: true, dataDir: DATA, isHere: () => Promise.resolve(true) },
    } as unknown as PrepareParts;
    const starts = { services: ["inner"], because: "services.inner.pre_start" };
    return requireApart(parts, "shop", { name: "shop", ...model }, starts, never);
  }
  const both = (inner: readonly object[], outer: readonly object[], more = {}): ComposeModel => ({
    services: { inner: { volumes: inner }, outer: { volumes: outer } },
    ...more,
  });
  const sub = bind(`${LIVE}/data/sub`, "/v");
  const data = bind(`${LIVE}/data`, "/d");
  const options = (device: string) => ({
    driver: "local",
    driver_opts: { type: "none", o: "bind", device },
  });

  const refused: Readonly<Record<string, () => readonly [ComposeModel, Other?]>> = {
    "its own": () => [both([data, sub], [])],
    "another service's": () => [both([sub], [data])],
    "an absolute path's": () => [both([bind("/srv/a/b", "/v")], [bind("/srv/a", "/d")])],
    "the same by a link of the host": () => [
      both([bind(`${directory}/srv/b`, "/v")], [bind(`${directory}/alias`, "/d")]),
    ],
    "that of a volume with a device": () => [
      both([volume("in", "/v")], [volume("out", "/d")], {
        volumes: {
          in: { name: "shop_in", ...options(`${LIVE}/data/sub`) },
          out: { name: "shop_out", ...options(`${LIVE}/data`) },
        },
      }),
    ],
    "that around an existing volume": () => [
      both([volume("in", "/v")], [data], { volumes: { in: { name: "led", external: true } } }),
    ],
    "that around a config": () => [{
      ...both([], [data], { configs: { c: { name: "c", file: `${LIVE}/data/c.txt` } } }),
      services: { inner: { configs: [{ source: "c", target: "/c" }] }, outer: { volumes: [data] } },
    }],
    "that around what it has from others": () => [{
      services: {
        inner: { volumes_from: ["middle"] },
        middle: { volumes_from: ["lender:ro"] },
        lender: { volumes: [sub] },
        outer: { volumes: [data] },
      },
    }],
    "a running container's": () => [both([sub], []), { source: `${LIVE}/data` }],
  };
  for (const [title, given] of Object.entries(refused)) {
    it(`refuses a mount in a writable one: ${title}`, async () => {
      await assert.rejects(look(...given()), {
        code: "unsupported",
        message: /which lies in .* may write .*\(services\.inner\.pre_start\).*beside each other/,
      });
    });
  }

  const allowed: Readonly<Record<string, () => readonly [ComposeModel, Other?]>> = {
    "beside each other": () => [both([bind(`${LIVE}/data-2`, "/v")], [data])],
    "the same twice": () => [both([data], [data])],
    "in one that nobody writes to": () => [both([sub], [{ ...data, read_only: true }])],
    "around what others have": () => [both([data], [sub])],
    "of a service that compose does not start": () => [both([], [data, sub])],
    "in one around the data directory": () => [both([sub], [bind("/var/lib", "/d")])],
    "in that of a stopped container": () => [
      both([sub], []),
      { source: `${LIVE}/data`, state: "exited" },
    ],
    "in one that a container only reads": () => [
      both([sub], []),
      { source: `${LIVE}/data`, writable: false },
    ],
  };
  for (const [title, given] of Object.entries(allowed)) {
    it(`allows mounts ${title}`, () => look(...given()));
  }
});
