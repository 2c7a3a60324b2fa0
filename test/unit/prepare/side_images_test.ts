import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sideImages } from "../../../src/compose/mod.ts";
import { type ReleaseService, stackKey } from "../../../src/model/mod.ts";
import type { WantedImages } from "../../../src/prepare/wanted_images.ts";
import {
  imagesToRecord,
  pullSideImages,
  refreshSideImages,
} from "../../../src/prepare/side_images.ts";

const never = new AbortController().signal;
const hook = (image?: string) => ({ pre_start: [{ command: ["migrate"], image }] });
const mounted = (source: string) => ({ volumes: [{ type: "image", source, target: "/m" }] });

/** Services by name; each runs `app:1` where it says nothing else. */
type Services = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const servicesOf = (services: Services) =>
  Object.entries(services).map(([name, { image = "app:1", build }]) =>
    ({ name, image, builds: build !== undefined }) as ReleaseService
  );

/** What is fetched for `services` on an engine that has `here`. */
async function pulled(services: Services, here: readonly string[] = []) {
  const pulls: Pick<WantedImages, "services" | "call">[] = [];
  const parts = {
    host: {
      engine: { imageId: (image: string) => Promise.resolve(here.find((each) => each === image)) },
      images: {
        pull: ({ services, call }: WantedImages) => {
          if (services.length > 0) pulls.push({ services, call });
          return Promise.resolve();
        },
      },
    },
  } as unknown as Parameters<typeof pullSideImages>[0];
  const key = stackKey("", "shop");
  const project = { name: "shop", directory: "/", files: ["-"], envFiles: [], profiles: [] };
  const release = { key, model: { services }, services: servicesOf(services) };
  const wanted = {
    key,
    services: release.services,
    call: { project, variables: {} },
    timeoutSeconds: 60,
    progress: () => {},
  };
  await pullSideImages(parts, release, wanted, never);
  return pulls;
}

describe("sideImages()", () => {
  const cases: readonly (readonly [title: string, services: Services, images: unknown])[] = [
    ["nothing", { web: {} }, []],
    ["a hook's image", { web: hook("tool:1") }, [["web", "tool:1", "hook"]]],
    ["no hook that runs the service's own", { web: hook(), db: hook("app:1") }, []],
    ["a mounted image", { web: mounted("data:1") }, [["web", "data:1", "volume"]]],
    ["no other mount", { web: { volumes: [{ type: "bind", source: "/a", target: "/b" }] } }, []],
    [
      "each once",
      { web: { ...hook("tool:1"), ...mounted("data:1") }, db: hook("tool:1") },
      [["web", "tool:1", "hook"], ["web", "data:1", "volume"]],
    ],
  ];
  for (const [title, services, images] of cases) {
    it(`tells ${title}`, () =>
      assert.deepEqual(
        sideImages({ services }, servicesOf(services)).map((each) => [
          each.service,
          each.image,
          each.use,
        ]),
        images,
      ));
  }
});

describe("pullSideImages()", () => {
  it("fetches what is not on the engine, all at once", async () => {
    const services = { web: { ...hook("tool:1"), ...mounted("data:1") }, db: mounted("here:1") };
    const [only, ...more] = await pulled(services, ["here:1"]);
    assert.deepEqual(more, []);
    assert.deepEqual(only?.services, [
      { name: "web.hook.0", image: "tool:1" },
      { name: "web.volume.1", image: "data:1" },
    ]);
    assert.deepEqual(only?.call.model, {
      services: { "web.hook.0": { image: "tool:1" }, "web.volume.1": { image: "data:1" } },
    });
  });

  it("leaves to the build what the release builds", async () => {
    const tool = { image: "tool:1", build: { context: "." } };
    assert.deepEqual(await pulled({ web: hook("tool:1"), tool }), []);
  });

  it("refuses a hook's image that may not be fetched, and asks nobody", async () => {
    const services = { web: { ...hook("tool:1"), pull_policy: "never" } };
    await assert.rejects(pulled(services), {
      code: "pull_failed",
      message: /shop needs tool:1 of service web, not on this engine, and pull_policy: never/,
    });
    assert.deepEqual(await pulled(services, ["tool:1"]), []);
    assert.equal((await pulled({ web: { ...mounted("data:1"), pull_policy: "never" } })).length, 1);
  });
});

describe("refreshSideImages()", () => {
  it("asks for all that services need and the release does not build, whether here or not", async () => {
    const pulls: unknown[] = [];
    const images = {
      pull: ({ services }: WantedImages) => Promise.resolve(void pulls.push(services)),
    } as unknown as Parameters<typeof refreshSideImages>[0];
    const services = { web: { ...hook("tool:1"), ...mounted("data:1") }, db: hook("built:1") };
    const [web, db] = servicesOf(services);
    assert.ok(web !== undefined && db !== undefined);
    const wanted = {
      key: stackKey("", "shop"),
      services: [{ ...web, sideImages: ["tool:1", "data:1"] }, db],
      call: { project: {} as never, variables: {} },
      timeoutSeconds: 60,
      progress: () => {},
    };
    await refreshSideImages(images, { services }, wanted, never);
    assert.deepEqual(pulls, [[
      { name: "web.hook.0", image: "tool:1" },
      { name: "web.volume.1", image: "data:1" },
    ]]);
    await refreshSideImages(images, { services }, { ...wanted, services: [db] }, never);
    assert.equal(pulls.length, 1);
  });
});

describe("imagesToRecord()", () => {
  const service = (name: string) => ({ name, sideImages: ["tool:1"] }) as unknown as ReleaseService;
  const engine = { imageId: () => Promise.resolve("sha256:now") };
  const ran = { "web/tool:1": "sha256:then", "db/tool:1": "sha256:then", web: "sha256:own" };
  const services = [
    { name: "web", action: "recreate", because: [] },
    { name: "db", action: "keep", because: [] },
  ] as const;

  it("is what names mean for containers that are made, and what they ran for those that stay", async () => {
    const release = { services: ["web", "db", "new"].map(service) };
    assert.deepEqual(await imagesToRecord(engine, { release, services, ran, known: {} }, never), {
      "web/tool:1": "sha256:now",
      "db/tool:1": "sha256:then",
    });
  });

  it("is what the containers are made with, wherever names lead by then", async () => {
    const release = { services: ["web", "db"].map(service) };
    const known = { "web/tool:1": "sha256:built", "db/tool:1": "sha256:built" };
    assert.deepEqual(await imagesToRecord(engine, { release, services, ran, known }, never), {
      "web/tool:1": "sha256:built",
      "db/tool:1": "sha256:then",
    });
  });

  it("leaves out what cannot be looked at: the rollout has begun, and says what is wrong", async () => {
    const release = { services: ["web", "db"].map(service) };
    const away = { imageId: () => Promise.reject(new Error("engine is away")) };
    assert.deepEqual(await imagesToRecord(away, { release, services, ran, known: {} }, never), {
      "db/tool:1": "sha256:then",
    });
    const ended = AbortSignal.abort(new Error("ended"));
    await assert.rejects(
      imagesToRecord(away, { release, services, ran, known: {} }, ended),
      /ended/,
    );
  });

  it("is nothing for a swarm", async () => {
    const release = { services: [service("web")], swarm: {} };
    assert.deepEqual(
      await imagesToRecord(engine, { release, services, ran, known: {} }, never),
      {},
    );
  });
});
