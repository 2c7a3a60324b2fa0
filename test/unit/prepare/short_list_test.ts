import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { presentImages, requireShortList } from "../../../src/prepare/short_list.ts";

describe("requireShortList()", () => {
  const never = new AbortController().signal;
  const check = async (
    made: readonly [service: object, replicas: number, image?: string][],
    listed = 0,
  ) => {
    const services = made.map(([, replicas, image = "small"], at) => ({
      name: `s${at}`,
      image,
      expectation: { replicas },
    }));
    const release = {
      key: { context: "default", name: "shop" },
      model: { services: Object.fromEntries(made.map(([service], at) => [`s${at}`, service])) },
    };
    let looks = 0;
    const engine = {
      imageListed: (image: string) => Promise.resolve(image === "large" ? 3_000_000 : 300),
      listedBytes: () => Promise.resolve((looks++, listed)),
    };
    await requireShortList(engine, release, { services, known: new Map() }, never);
    return looks;
  };

  it("has nothing against usual containers, and does not look at others for few of them", async () => {
    assert.equal(await check([[{ labels: { a: "b" } }, 20], [{ command: ["a"] }, 10]], 1e9), 0);
    assert.equal(await check([[{}, 900]], 5_000_000), 1);
    assert.equal(await check([[{}, 1, "large"], [{}, 100, ""]]), 1);
  });

  it("refuses what would make the list of all containers too long to be read", async () => {
    const refused = { code: "unsupported", message: /shop: with its images, .* characters/ };
    await assert.rejects(check([[{}, 2, "large"]]), refused);
    await assert.rejects(check([[{}, 1, "large"], [{}, 1, "large"]]), refused);
    await assert.rejects(check([[{ command: ["x".repeat(2_000_000)] }, 3]]), refused);
    await assert.rejects(check([[{ expose: ["1-65535"] }, 1], [{}, 1, "large"]]), refused);
  });

  it("refuses much where others have much already, which no single deployment shows", async () => {
    const message = /lists those that are there with 24000000: the most of all is/;
    await assert.rejects(check([[{}, 1, "large"]], 24_000_000), { message });
    assert.equal(await check([[{}, 1, "large"]], 20_000_000), 1);
  });

  it("asks about an image once, and not about one that was there before", async () => {
    const asked: string[] = [];
    const engine = {
      imageListed: (image: string) => Promise.resolve((asked.push(image), LISTED[image])),
      listedBytes: () => Promise.resolve(0),
    };
    const services = ["small", "", "large", "missing", "large"]
      .map((image) => ({ name: image, image, expectation: { replicas: 1 } }));
    const known = await presentImages(engine, services, never);
    assert.deepEqual(asked, ["small", "large", "missing"]);
    assert.deepEqual([...known.keys()], ["small", "large"]);
    asked.length = 0;
    const release = { key: { context: "default", name: "shop" }, model: { services: {} } };
    const checked = requireShortList(engine, release, { services, known }, never);
    await assert.rejects(checked, { code: "unsupported" });
    assert.deepEqual(asked, ["missing"]);
  });
});

const LISTED: Readonly<Record<string, number | undefined>> = { small: 300, large: 3_000_000 };
