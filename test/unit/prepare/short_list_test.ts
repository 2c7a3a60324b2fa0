import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ImageListed } from "../../../src/docker/engine.ts";
import { createMemoryEngine, runningContainer } from "../../fakes/memory_engine.ts";
import { presentImages, requireShortList } from "../../../src/prepare/short_list.ts";

describe("requireShortList()", () => {
  const never = new AbortController().signal;
  const memory = createMemoryEngine([runningContainer("other", "data")]);
  const inspect = memory.inspectContainer.bind(memory);
  memory.inspectContainer = async (id, signal) => {
    const details = await inspect(id, signal);
    const destination = "/a".repeat(100_000);
    const mount = { kind: "bind", name: "", source: "/a", destination, writable: true } as const;
    return details && { ...details, mounts: [mount] };
  };
  const check = async (
    made: readonly [service: object, replicas: number, image?: string][],
  ) => {
    const services = made.map(([, replicas, image = "small"], at) => ({
      name: `s${at}`,
      image,
      expectation: { replicas },
    }));
    const release = {
      key: { context: "default", name: "shop" },
      model: { services: Object.fromEntries(made.map(([service], at) => [`s${at}`, service])) },
      services,
    };
    const engine = {
      imageListed: (image: string) => Promise.resolve(LISTED[image]),
      inspectContainer: memory.inspectContainer.bind(memory),
    };
    await requireShortList(engine, release, { services, known: new Map() }, never);
  };

  it("has nothing against usual containers", async () => {
    await check([[{ labels: { a: "b" } }, 20], [{ command: ["a"] }, 10]]);
    await check([[{}, 900]]);
    await check([[{}, 1, "large"], [{}, 100, ""]]);
  });

  it("refuses what would make the list of all containers too long to be read", async () => {
    const refused = { code: "unsupported", message: /shop: with its images, .* characters/ };
    await assert.rejects(check([[{}, 2, "large"]]), refused);
    await assert.rejects(check([[{}, 1, "large"], [{}, 1, "large"]]), refused);
    await assert.rejects(check([[{ command: ["x".repeat(2_000_000)] }, 3]]), refused);
    await assert.rejects(check([[{ expose: ["1-65535"] }, 1], [{}, 1, "large"]]), refused);
  });

  it("refuses an image whose labels make each event of its containers too long", async () => {
    const message = /with its images, service s0: each container has labels of \d+ characters/;
    await assert.rejects(check([[{}, 1, "labelled"]]), { code: "unsupported", message });
    const labels = { a: "x".repeat(65_400) };
    await assert.rejects(check([[{ labels }, 1]]), { code: "unsupported", message });
    await check([[{ labels }, 1, ""]]);
  });

  it("counts what containers mount because others do, with what their images declare", async () => {
    const refused = { code: "unsupported", message: /shop: with its images, .* characters/ };
    const from = { volumes_from: ["s0:ro"] };
    await check([[{}, 1, "large"], [{}, 20]]);
    await assert.rejects(check([[{}, 1, "large"], [from, 20]]), refused);
    await assert.rejects(
      check([[{}, 0, "large"], [from, 0], [{ volumes_from: ["s1"] }, 2]]),
      refused,
    );
    const [{ id } = { id: "" }] = memory.containers;
    const theirs = { volumes_from: [`container:${id}`] };
    await check([[theirs, 1]]);
    await assert.rejects(check([[theirs, 20]]), refused);
    await assert.rejects(check([[theirs, 0], [from, 20]]), refused);
  });

  it("asks about an image once, and not about one that was there before", async () => {
    const asked: string[] = [];
    const engine = {
      imageListed: (image: string) => Promise.resolve((asked.push(image), LISTED[image])),
      inspectContainer: memory.inspectContainer,
    };
    const services = ["small", "", "large", "missing", "large"]
      .map((image) => ({ name: image, image, expectation: { replicas: 1 } }));
    const known = await presentImages(engine, services, never);
    assert.deepEqual(asked, ["small", "large", "missing"]);
    assert.deepEqual([...known.keys()], ["small", "large"]);
    asked.length = 0;
    const key = { context: "default", name: "shop" };
    const release = { key, model: { services: {} }, services };
    const checked = requireShortList(engine, release, { services, known }, never);
    await assert.rejects(checked, { code: "unsupported" });
    assert.deepEqual(asked, ["missing"]);
  });
});

const LISTED: Readonly<Record<string, ImageListed | undefined>> = {
  small: { id: "1", labels: 200, all: 300 },
  large: { id: "2", labels: 200, all: 3_000_000 },
  labelled: { id: "3", labels: 65_600, all: 65_700 },
};
