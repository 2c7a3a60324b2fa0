import assert from "node:assert/strict";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { placeFiles, removePlacedFiles } from "../../../src/deploy/mod.ts";
import type { ContainerWish } from "../../../src/docker/create_bodies.ts";
import {
  isStackwrightError,
  type ObservedContainer,
  stackKey,
  StackwrightError,
} from "../../../src/model/mod.ts";
import { systemFiles } from "../../../src/system/mod.ts";
import { createMemoryEngine, runningContainer } from "../../fakes/memory_engine.ts";
import { releaseOf, serviceOf } from "./releases.ts";

const { signal } = new AbortController();
const SITE = "shop_files_site";
const CONF = "shop_files_conf";

const mount = (source: string) => ({ type: "volume", source, target: "/x", read_only: true });
const RELEASE = releaseOf("1", [serviceOf("web"), serviceOf("app"), serviceOf("plain")], {
  model: {
    name: "shop",
    services: {
      web: { image: "web:1", volumes: [mount(SITE)] },
      app: { image: "app:1", volumes: [mount(CONF)] },
      plain: { image: "plain:1" },
    },
    "x-stackwright-files": { [SITE]: "site", [CONF]: "link.conf" },
  },
});
const volume = (name: string) => ({
  id: name,
  name,
  driver: "local",
  labels: {
    "stackwright.manager": "stackwright",
    "stackwright.deployment": "shop",
    "stackwright.files": name,
  },
});

const whole = (name: string) => ({ ...volume(name), id: `${name}_whole`, name: `${name}_whole` });
const OURS = { "stackwright.deployment": "shop" };

describe("files for an engine on another machine", () => {
  let root = "";
  before(async () => {
    root = await fs.mkdtemp(join(tmpdir(), "swt-place-"));
    await fs.mkdir(join(root, "tree/site/css"), { recursive: true });
    await fs.writeFile(join(root, "tree/site/index.html"), "hello");
    await fs.writeFile(join(root, "tree/site/css/a.css"), "a{}");
    await fs.writeFile(join(root, "tree/app.conf"), "a=1");
    await fs.symlink("app.conf", join(root, "tree/link.conf"));
    await fs.writeFile(join(root, "outside"), "no");
    await fs.symlink("../outside", join(root, "tree/out"));
  });
  after(async () => await fs.rm(root, { recursive: true }));

  const setUp = () => {
    const engine = createMemoryEngine();
    const wishes: ContainerWish[] = [];
    const sent: string[] = [];
    Object.assign(engine.images, { "web:1": "sha256:web", "app:1": "sha256:app" });
    const make = engine.makeContainer.bind(engine);
    engine.makeContainer = async (wish, within) => {
      wishes.push(wish);
      return await make(wish, within);
    };
    const unpack = engine.unpackInto.bind(engine);
    engine.unpackInto = async (id, archive, within) => {
      // Names begin a block; what else is in there does not matter here.
      const text = new TextDecoder().decode(archive);
      sent.push(...text.match(/stackwright-files[\w./-]*/g) ?? []);
      await unpack(id, archive, within);
    };
    const place = async (
      services: readonly string[],
      { release = RELEASE, files = systemFiles } = {},
    ) => {
      const parts = {
        engine,
        files,
        clock: { now: () => new Date(0) },
        progress: () => {},
      };
      await placeFiles(parts, { release, tree: join(root, "tree"), services }, signal);
    };
    return { engine, wishes, sent, place };
  };
  const left = (name: string): ObservedContainer => ({
    id: `${name}-left`,
    name: `${name}_copy`,
    service: "",
    state: "created",
    health: "none",
    exitCode: undefined,
    imageId: "",
    labels: { "stackwright.files": name },
  });

  it("are copied through a container of the service's image that is never started", async () => {
    const { engine, wishes, sent, place } = setUp();
    await place(["web", "plain"]);
    assert.deepEqual(engine.calls, [
      `make ${SITE}_copy`,
      `unpack into ${SITE}_copy-id`,
      `remove ${SITE}_copy-id with volumes`,
      `make volume ${SITE}_whole`,
    ]);
    const [{ body } = assert.fail()] = wishes;
    assert.equal(body.Image, "web:1");
    assert.deepEqual(body.Labels, {
      "stackwright.files": SITE,
      "com.docker.compose.project": "",
      "com.docker.compose.oneoff": "True",
    });
    assert.equal(body.HostConfig.NetworkMode, "none");
    assert.deepEqual(
      body.HostConfig.Mounts?.map(({ Source, ReadOnly, VolumeOptions }) => ({
        Source,
        ReadOnly,
        Labels: VolumeOptions?.Labels,
      })),
      [{
        Source: SITE,
        ReadOnly: false,
        Labels: {
          ...volume(SITE).labels,
          "stackwright.source": "git",
          "stackwright.source.name": "h.example/o/r",
        },
      }],
    );
    assert.deepEqual(sent, [
      "stackwright-files/css",
      "stackwright-files/css/a.css",
      "stackwright-files/index.html",
    ]);
  });

  it("are copied as what a link leads to, and under one name", async () => {
    const { sent, place } = setUp();
    await place(["app"]);
    assert.deepEqual(sent, ["stackwright-files/file"]);
  });

  it("are left as they are where they are there, or nobody is about to see them", async () => {
    const { engine, place } = setUp();
    engine.volumes = [volume(SITE), whole(SITE)];
    await place(["web", "plain"]);
    await place([]);
    assert.deepEqual(engine.calls, []);
  });

  it("are copied anew where nothing says that the copy is whole", async () => {
    // As it is where a process died in a copy, and somebody tidied its container away.
    const { engine, place } = setUp();
    engine.volumes = [volume(SITE)];
    engine.containers = [runningContainer("shop", "web", { labels: OURS })];
    await place(["web"]);
    assert.deepEqual(engine.calls.slice(0, 3), [
      `remove volume ${SITE}`,
      `remove volume ${SITE}_whole`,
      `make ${SITE}_copy`,
    ]);
  });

  it("are copied anew where only the mark of a copy is left", async () => {
    const { engine, place } = setUp();
    engine.volumes = [whole(SITE)];
    await place(["web"]);
    assert.deepEqual(engine.calls.slice(1, 3), [
      `remove volume ${SITE}_whole`,
      `make ${SITE}_copy`,
    ]);
  });

  it("are left as they are, and marked again, where a container of a stack mounts them", async () => {
    // Nothing mounts a mark, so it goes when somebody tidies volumes, and the container goes later.
    const { engine, place } = setUp();
    engine.volumes = [volume(SITE)];
    engine.containers = [runningContainer("shop", "web", { labels: OURS })];
    const inspect = engine.inspectContainer.bind(engine);
    engine.inspectContainer = async (id, within) => {
      const details = await inspect(id, within);
      const found = { kind: "volume", name: SITE, source: "", destination: "/x", writable: false };
      return details && { ...details, mounts: [{ ...found, kind: "volume" }] };
    };
    await place(["web"]);
    assert.deepEqual(engine.calls, [`make volume ${SITE}_whole`]);
  });

  it("are copied anew where a copy was interrupted", async () => {
    const { engine, place } = setUp();
    engine.volumes = [volume(SITE)];
    engine.containers = [left(SITE), left("other_files_x")];
    const remove = engine.removeVolume.bind(engine);
    engine.removeVolume = async (name, within) => {
      engine.volumes = [];
      await remove(name, within);
    };
    await place(["web"]);
    assert.deepEqual(engine.calls.slice(0, 4), [
      `remove ${SITE}-left with volumes`,
      `remove volume ${SITE}`,
      `remove volume ${SITE}_whole`,
      `make ${SITE}_copy`,
    ]);
  });

  for (
    const [whose, seen] of [
      ["a stack's", { labels: { ...left(SITE).labels, "com.docker.compose.project": "evil" } }],
      ["a swarm's", { name: "evil_web.1.abc" }],
    ] as const
  ) {
    it(`leave ${whose} container alone whose image says that it copies them`, async () => {
      const { engine, place } = setUp();
      engine.volumes = [volume(SITE), whole(SITE)];
      engine.containers = [{ ...left(SITE), ...seen }];
      await place(["web"]);
      assert.deepEqual(engine.calls, []);
    });
  }

  for (
    const [whose, forged] of [
      ["another stack's", { "stackwright.deployment": "evil" }],
      ["nobody's", { "stackwright.manager": "" }],
      ["no copy's", { "stackwright.files": "" }],
    ] as const
  ) {
    it(`are never those in ${whose} volume of the same name`, async () => {
      const { engine, place } = setUp();
      const evil = (each: typeof volume) => ({
        ...each(SITE),
        labels: { ...each(SITE).labels, ...forged },
      });
      engine.volumes = [evil(volume), evil(whole)];
      await assert.rejects(place(["web"]), (error) => {
        assert.ok(isStackwrightError(error, "conflict"));
        assert.match(error.message, /volume shop_files_site .* is none; remove it/);
        return true;
      });
      assert.deepEqual(engine.calls, []);
    });
  }

  for (
    const [how, containers] of [["", [left(SITE)]], [" as its container was removed", []]] as const
  ) {
    it(`leave nothing behind where copying them fails${how}`, async () => {
      const { engine, place } = setUp();
      engine.unpackInto = () => {
        engine.containers = [...containers];
        return Promise.reject(new Error("no space left"));
      };
      await assert.rejects(place(["web"]), /no space left/);
      assert.deepEqual([...new Set(engine.calls)], [
        `make ${SITE}_copy`,
        ...containers.map(() => `remove ${SITE}-left with volumes`),
        `remove volume ${SITE}`,
        `remove volume ${SITE}_whole`,
      ]);
    });
  }

  it("are refused where one is too large, with its name", async () => {
    const { engine, place } = setUp();
    const files = { ...systemFiles, readPlain: () => Promise.resolve(undefined) };
    await assert.rejects(place(["web"], { files }), (error) => {
      assert.ok(isStackwrightError(error, "config_invalid"));
      assert.match(error.message, /^css\/a\.css: only plain files of at most 64 MiB are copied/);
      return true;
    });
    assert.deepEqual(engine.calls, [
      `make ${SITE}_copy`,
      `remove volume ${SITE}`,
      `remove volume ${SITE}_whole`,
    ]);
  });

  it("are never others than those of the repository", async () => {
    const { engine, place } = setUp();
    const model = { ...RELEASE.model, "x-stackwright-files": { [SITE]: "out" } };
    await assert.rejects(
      place(["web"], { release: { ...RELEASE, model } }),
      (error) => isStackwrightError(error, "path_escapes"),
    );
    assert.deepEqual(engine.calls, []);
  });

  it("are removed but for those that are needed or mounted", async () => {
    const { engine } = setUp();
    const MOUNTED = "shop_files_mounted";
    const ours = [SITE, CONF, MOUNTED].flatMap((each) => [volume(each), whole(each)]);
    engine.volumes = [...ours, { ...volume("other"), labels: {} }];
    engine.onCall = (call) => {
      if (call !== `remove volume ${MOUNTED}`) return;
      throw new StackwrightError("engine_refused", "volume is in use");
    };
    await removePlacedFiles(engine, stackKey("", "shop"), new Set([SITE]), signal);
    assert.deepEqual(engine.calls, [`remove volume ${CONF}`, `remove volume ${CONF}_whole`]);
  });
});
