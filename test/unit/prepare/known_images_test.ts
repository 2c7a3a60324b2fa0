import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { imagesFetched } from "../../../src/deploy/mod.ts";
import { earlierImages, knownImages } from "../../../src/prepare/known_images.ts";
import type { ReleaseService } from "../../../src/model/mod.ts";

const service = (name: string, more: Partial<ReleaseService> = {}) =>
  ({ name, image: `${name}:1`, builds: false, ...more }) as ReleaseService;

const web = service("web", { sideImages: ["tool:1", "app:1"] });
const app = service("app", { builds: true });

describe("imagesFetched()", () => {
  it("are those that the release does not build, of services and beside them", () => {
    const model = { services: { web: { image: "web:1" }, app: { image: "app:1", build: {} } } };
    const services = [web, app, service("none", { image: "" })];
    assert.deepEqual(imagesFetched({ model, services }), [
      { name: "web/tool:1", image: "tool:1" },
      { name: "web", image: "web:1" },
    ]);
  });
});

describe("earlierImages()", () => {
  const ran = {
    pulled: { web: "pulled" },
    running: { web: "running" },
    deployed: { web: "deployed", "web/tool:1": "tool" },
  };
  const earlier = (action: string, from = ran) =>
    earlierImages({ services: [{ name: "web", action, because: [] }] as never }, [web], from);
  const nothing = { ...ran, pulled: {} as typeof ran.pulled };

  it("are what was pulled for the plan, whatever else is known", () => {
    for (const action of ["create", "recreate", "scale", "start"]) {
      assert.equal(earlier(action)["web"], "pulled");
    }
  });

  it("are what the others run, for more replicas", () => {
    assert.equal(earlier("scale", nothing)["web"], "running");
  });

  it("are what the deployed release ran, for a container of it that is missing, and for hooks", () => {
    assert.deepEqual(earlier("create", nothing), ran.deployed);
    assert.equal(earlier("start", nothing)["web/tool:1"], "tool");
  });

  it("are none for what is replaced: it gets what its name means", () => {
    assert.deepEqual(earlier("recreate", nothing), {});
  });
});

describe("knownImages()", () => {
  it("are the known ones, and for others those that names had, or have", async () => {
    const asked: string[] = [];
    const engine = {
      imageId: (name: string) => {
        asked.push(name);
        return Promise.resolve(name === "gone:1" ? undefined : `id of ${name}`);
      },
    };
    const images = ["web", "db", "seen", "gone"].map((name) => ({ name, image: `${name}:1` }));
    const { signal } = new AbortController();
    const present = new Map([["seen:1", { id: "id that was seen", labels: 0, all: 0 }]]);
    const known = { web: "known" };
    assert.deepEqual(await knownImages(engine, images, { known, present }, signal), {
      web: "known",
      db: "id of db:1",
      seen: "id that was seen",
    });
    assert.deepEqual(asked, ["db:1", "gone:1"]);
  });
});
