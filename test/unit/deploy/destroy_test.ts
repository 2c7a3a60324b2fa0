import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  dataText,
  type Destroy,
  destroyStack,
  removeUnusedImages,
} from "../../../src/deploy/mod.ts";
import {
  builtNames,
  COMPOSE_LABELS,
  keptName,
  MOST_OBSERVED,
  stackKey,
  StackwrightError,
} from "../../../src/model/mod.ts";
import { createMemoryEngine, runningContainer } from "../../fakes/memory_engine.ts";

const SIGNAL = new AbortController().signal;
const DESTROY: Destroy = {
  key: stackKey("", "shop"),
  removeVolumes: false,
  removeImages: false,
  dependsOn: { web: ["api"], api: ["db"], job: ["db"] },
};

function resource(name: string, project = "shop") {
  return { id: `${name}-id`, name, driver: "x", labels: { [COMPOSE_LABELS.project]: project } };
}

function shop() {
  const engine = createMemoryEngine(
    ["api", "db", "job", "web", "stray"].map((each) => runningContainer("shop", each)),
  );
  engine.containers.push(runningContainer("other", "db", { id: "other-db", imageId: "sha256:db" }));
  engine.networks = [resource("shop_default"), resource("other_default", "other")];
  engine.volumes = [resource("shop_data"), resource("other_data", "other")];
  const names = ["api", "db", "hook", "job", "needed", "stray", "web"];
  engine.listImages = () => Promise.resolve(names.map((each) => pulled(`sha256:${each}`)));
  return engine;
}

/** An image as the classic store lists one that a person made, or that lost its name. */
const image = (id: string, ...tags: string[]) => ({ id, tags, digests: [], labels: {} });

/** An image as engines list one that a registry has. */
const pulled = (id: string, ...tags: string[]) => ({
  ...image(id, ...tags),
  digests: ["app@sha256:d"],
});

describe("dataText()", () => {
  it("names what is deleted, and what stays", () => {
    const data = { deleted: ["volume a", "volume b"], kept: ["container c: theirs"] };
    const text = "; deleted volume a; deleted volume b; kept container c: theirs";
    assert.equal(dataText("deleted", data), text);
    assert.equal(
      dataText("deletes", data),
      text.replaceAll(/(delete|kep)[dt] /g, (word) => word === "kept " ? "keeps " : "deletes "),
    );
  });

  it("has a limit, and says how many more there are", () => {
    const many = Array.from({ length: 25_000 }, (_, at) => `volume v${at}${"y".repeat(3900)}`);
    const text = dataText("deleted", { deleted: many, kept: many });
    assert.ok(text.length < 20_000, `${text.length} characters`);
    assert.match(text, /^; deleted volume v0y+; deleted volume v1y+; deleted 24998 more; kept /);
  });
});

describe("destroyStack()", () => {
  it("removes nothing of a stack of which its engine tells too many things", async () => {
    const too = (kind: "networks" | "volumes") => {
      const engine = shop();
      engine[kind] = Array.from({ length: MOST_OBSERVED + 1 }, (_, at) => resource(`v${at}`));
      return { engine, removed: `remove ${kind.slice(0, -1)}` };
    };
    const runs = shop();
    const oneOff = { labels: { [COMPOSE_LABELS.oneOff]: "True" } };
    for (let at = 0; at < MOST_OBSERVED; at++) {
      runs.containers.push(runningContainer("shop", "web", { id: `r${at}`, ...oneOff }));
    }
    const asked = { ...DESTROY, removeVolumes: true };
    for (
      const [{ engine, removed }, told] of [
        [{ engine: runs, removed: "remove" }, /3005 containers, .*docker container ls -a /],
        [too("networks"), /3001 networks, .*: docker network ls /],
        [too("volumes"), /3001 volumes, .*: docker volume ls --filter label=\S+project=shop$/],
      ] as const
    ) {
      const refused = { code: "engine_refused", message: told };
      await assert.rejects(destroyStack(engine, asked, SIGNAL), refused);
      assert.ok(!engine.calls.some((each) => each.startsWith(removed)), String(told));
    }
  });

  it("removes what depends on others before them, then networks, and nothing of other projects", async () => {
    const engine = shop();
    await destroyStack(engine, DESTROY, SIGNAL);
    const removed = engine.calls.filter((each) => each.startsWith("remove "));
    const position = (service: string) => removed.indexOf(`remove ${service}-id`);
    for (const [first, second] of [["web", "api"], ["api", "db"], ["job", "db"]] as const) {
      assert.ok(position(first) < position(second), `${first} goes before ${second}`);
    }
    assert.equal(removed.at(-1), "remove network shop_default-id");
    assert.deepEqual(engine.containers.map((each) => each.id), ["other-db"]);
    assert.ok(!engine.calls.some((each) => each.includes("other") || each.includes("volume")));
  });

  it("touches nothing where the engine tells of more than may be looked at", async () => {
    const engine = createMemoryEngine(
      Array.from({ length: 20_000 }, (_, at) => runningContainer("shop", `s${at}`)),
    );
    const destroyed = destroyStack(engine, DESTROY, SIGNAL);
    await assert.rejects(destroyed, { code: "engine_refused", message: /20000 containers/ });
    assert.deepEqual(engine.calls.filter((each) => /^(?:stop|remove) /.test(each)), []);
  });

  it("stops each container, with its own grace period, before it is removed", async () => {
    const engine = shop();
    await destroyStack(engine, DESTROY, SIGNAL);
    for (const service of ["web", "api", "db", "job", "stray"]) {
      const stop = engine.calls.indexOf(`stop ${service}-id`);
      assert.equal(engine.calls[stop + 1], `remove ${service}-id`);
    }
  });

  it("removes volumes when asked to, after the containers that use them", async () => {
    const engine = shop();
    await destroyStack(engine, { ...DESTROY, removeVolumes: true }, SIGNAL);
    assert.ok(engine.calls.includes("remove web-id with volumes"));
    assert.equal(engine.calls.at(-1), "remove volume shop_data");
  });

  it("names the container that uses a volume, and says what is left", async () => {
    const engine = shop();
    const user = "176f512f".repeat(8);
    engine.containers.push(runningContainer("other", "user", { id: user }));
    engine.removeVolume = (name) =>
      Promise.reject(
        new StackwrightError("engine_refused", `remove ${name}: volume is in use - [${user}]`),
      );
    const refused = () => destroyStack(engine, { ...DESTROY, removeVolumes: true }, SIGNAL);
    const text =
      "remove what has volume shop_data in use first (container other-user-1), it goes at the next " +
      "attempt then; shop is removed but for its data. After a removal over the API ask again: " +
      "polls bring back what is still described";
    await assert.rejects(refused, { code: "engine_refused", message: text });
    engine.everyContainer = () => Promise.reject(new StackwrightError("engine_refused", "busy"));
    await assert.rejects(refused, /in use first \(remove shop_data: volume is in use - \[176f/);
  });

  it("leaves what is another's, of each kind, and says why", async () => {
    const engine = shop();
    const whyKept = ({ name }: { readonly name: string }) =>
      /web|default|data/.test(name) ? "theirs" : undefined;
    const data = await destroyStack(engine, { ...DESTROY, removeVolumes: true, whyKept }, SIGNAL);
    assert.deepEqual(data, {
      deleted: [],
      kept: [
        "container shop-web-1: theirs",
        "network shop_default: theirs",
        "volume shop_data: theirs",
      ],
    });
    assert.deepEqual(engine.containers.map((each) => each.id), ["web-id", "other-db"]);
    assert.ok(!engine.calls.some((each) => /web|network|volume /.test(each)), String(engine.calls));
  });

  it("leaves a volume that another stack made meanwhile, in the place of its own", async () => {
    const engine = shop();
    const { findVolumes } = engine;
    engine.findVolumes = (names, signal) => {
      engine.volumes = [resource("shop_data", "other")];
      return findVolumes(names, signal);
    };
    assert.deepEqual(await destroyStack(engine, { ...DESTROY, removeVolumes: true }, SIGNAL), {
      deleted: [],
      kept: [],
    });
    assert.ok(!engine.calls.includes("remove volume shop_data"));
  });

  it("removes nothing more once it is told that the stack is not to go any longer", async () => {
    const all = shop();
    const destroy = { ...DESTROY, removeVolumes: true, removeImages: true };
    await destroyStack(all, destroy, SIGNAL);
    const removals = ({ calls }: typeof all) => calls.filter((each) => /^remove/.test(each));
    const last = all.calls.filter((each) => /^(stop|remove)/.test(each));
    // Whatever it does last before the stack is handed over, it removes nothing after that.
    for (const end of last.filter((each) => !each.startsWith("remove image"))) {
      const engine = shop();
      const requireStill = () => {
        if (engine.calls.includes(end)) throw new Error("handed over");
      };
      await destroyStack(engine, { ...destroy, requireStill }, SIGNAL).catch((error) =>
        assert.match(String(error), /handed over/)
      );
      const before = last.slice(0, last.indexOf(end) + 1).filter((each) => /^remove/.test(each));
      assert.deepEqual(removals(engine), before, end);
    }
  });

  it("removes images when asked to, but none that another container needs", async () => {
    const engine = shop();
    await destroyStack(engine, { ...DESTROY, removeImages: true }, SIGNAL);
    assert.deepEqual(engine.calls.filter((each) => each.includes("image")).sort(), [
      "remove image sha256:api",
      "remove image sha256:job",
      "remove image sha256:stray",
      "remove image sha256:web",
    ]);
  });

  it("leaves what a person made, whether the stack runs it, has run it or took its name away", async () => {
    const engine = shop();
    const listed = [
      image("sha256:web", "app:1"),
      image("sha256:api"),
      image("sha256:before", "app:2"),
    ];
    engine.listImages = () => Promise.resolve([...listed, pulled("sha256:job")]);
    const recordedImages = ["sha256:before"];
    const ownNames = new Set(["app:1", "app:2"]);
    const destroy = { ...DESTROY, removeImages: true, recordedImages, ownNames };
    await destroyStack(engine, destroy, SIGNAL);
    assert.deepEqual(engine.calls.filter((each) => each.includes("image")), [
      "remove image sha256:job",
    ]);
  });

  it("leaves images where they cannot be listed, says so, and removes all else", async () => {
    const engine = shop();
    const refused = new StackwrightError("engine_refused", "the engine's answer is too long");
    engine.listImages = () => Promise.reject(refused);
    const told: Error[] = [];
    const destroy = {
      ...DESTROY,
      removeImages: true,
      onImagesLeft: (error: Error) => told.push(error),
    };
    await destroyStack(engine, destroy, SIGNAL);
    assert.deepEqual(engine.containers.map((each) => each.id), ["other-db"]);
    assert.deepEqual(told, [refused]);
  });

  it("removes with them what no container of it runs, but was recorded", async () => {
    const engine = shop();
    const recordedImages = ["sha256:hook", "sha256:web", "sha256:needed"];
    const keptImages = new Set(["sha256:needed"]);
    const destroy = { ...DESTROY, removeImages: true, recordedImages, keptImages };
    await destroyStack(engine, destroy, SIGNAL);
    assert.deepEqual(engine.calls.filter((each) => each.includes("image")).sort(), [
      "remove image sha256:api",
      "remove image sha256:hook",
      "remove image sha256:job",
      "remove image sha256:stray",
      "remove image sha256:web",
    ]);
  });

  it("may be repeated after it broke off anywhere, and does nothing once all is gone", async () => {
    const full = shop();
    await destroyStack(full, DESTROY, SIGNAL);
    for (let allowed = 0; allowed < full.calls.length; allowed++) {
      const engine = shop();
      let left = allowed;
      engine.onCall = () => {
        if (left-- === 0) throw new Error("the engine went away");
      };
      await assert.rejects(destroyStack(engine, DESTROY, SIGNAL), /went away/);
      await destroyStack(engine, DESTROY, SIGNAL);
      assert.deepEqual(engine.containers.map((each) => each.id), ["other-db"]);
    }
    const empty = createMemoryEngine();
    await destroyStack(empty, { ...DESTROY, removeVolumes: true, removeImages: true }, SIGNAL);
    assert.deepEqual(empty.calls, []);
  });
});

describe("removeUnusedImages()", () => {
  it("removes each image once and keeps those in use", async () => {
    const engine = createMemoryEngine([runningContainer("a", "web", { imageId: "used" })]);
    const images = ["old", "used", "old", "older"];
    engine.listImages = () => Promise.resolve(["old", "used", "older"].map((each) => pulled(each)));
    await removeUnusedImages(engine, { key: DESTROY.key, images }, SIGNAL);
    assert.deepEqual(engine.calls, ["remove image old", "remove image older"]);
  });

  it("removes the name by which one was kept, and leaves what somebody else named", async () => {
    const engine = createMemoryEngine();
    const kept = keptName("sha256:a");
    const [built, others] = [DESTROY.key.name, "another"].map((each) => `${builtNames(each)}1`);
    assert.ok(built !== undefined && others !== undefined);
    engine.listImages = () =>
      Promise.resolve([
        pulled("sha256:a", "app:1", kept),
        pulled("sha256:b", "backup:1"),
        pulled("sha256:c"),
        // What loses its last name goes by itself, and may have got another one by then.
        image("sha256:d", built),
        image("sha256:e", "app:1", built, others),
      ]);
    const images = ["a", "b", "c", "d", "e"].map((each) => `sha256:${each}`);
    const ownNames = new Set(["app:1"]);
    await removeUnusedImages(engine, { key: DESTROY.key, images, ownNames }, SIGNAL);
    assert.deepEqual(engine.calls, [
      `remove image ${kept}`,
      "remove image sha256:a",
      "remove image sha256:c",
      `remove image ${built}`,
      `remove image ${built}`,
    ]);
  });
});
