import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stackKey } from "../../../../src/model/mod.ts";
import { requirePlainHooks, withKnownMounts } from "../../../../src/deploy/engine/hook_images.ts";

describe("requirePlainHooks()", () => {
  const judged = async (hook: Record<string, unknown>, labels: Record<string, string>) => {
    const model = { services: { web: { image: "web", pre_start: [hook] } } };
    const asked: string[] = [];
    const imageId = (image: string) => Promise.resolve(`id of ${image}`);
    const imageLabels = (image: string) => {
      asked.push(image);
      return Promise.resolve(labels);
    };
    const release = { key: stackKey("", "shop"), model };
    const services = [{ name: "web", image: "web" }];
    const { signal } = new AbortController();
    const told = await requirePlainHooks({ imageId, imageLabels }, release, services, signal);
    // Compose runs what was judged, wherever the name leads by then.
    assert.deepEqual(told, {
      services: { web: { image: "web", pre_start: [{ ...hook, image: asked[0] }] } },
    });
    return asked;
  };

  it("lets images pass with labels of their own, and those that compose gives anyway", async () => {
    const labels = { maintainer: "me", "com.docker.compose.project": "other" };
    assert.deepEqual(await judged({ image: "hook" }, labels), ["id of hook"]);
    assert.deepEqual(await judged({ command: ["true"] }, labels), ["id of web"]);
  });

  it("takes ids that are known before what names lead to by now", async () => {
    const hooks = [{ image: "hook" }, {}, { image: "web" }, { image: "other" }];
    const model = { services: { web: { image: "web", pre_start: hooks } } };
    const engine = {
      imageId: (image: string) => Promise.resolve(/^sha/.test(image) ? image : `moved ${image}`),
      imageLabels: () => Promise.resolve({}),
    };
    const release = { key: stackKey("", "shop"), model };
    const services = [{ name: "web", image: "web" }];
    const images = { web: "sha256:web", "web/hook": "sha256:hook" };
    const { signal } = new AbortController();
    const told = await requirePlainHooks(engine, release, services, signal, { images });
    const ran = ["sha256:hook", "sha256:web", "sha256:web", "moved other"];
    assert.deepEqual(told, {
      services: { web: { image: "web", pre_start: ran.map((image) => ({ image })) } },
    });
  });

  it("has images that name a project by a name of ours where they run now", async () => {
    const hooks = [{}, { image: "hook" }];
    const model = { services: { web: { image: "web", pre_start: hooks } } };
    const engine = {
      imageId: (image: string) => Promise.resolve(`id of ${image}`),
      imageLabels: (id: string) =>
        Promise.resolve(id === "id of web" ? { "com.docker.compose.project": "shop" } : {}),
    };
    const release = { key: stackKey("", "shop"), model };
    const services = [{ name: "web", image: "web" }];
    const { signal } = new AbortController();
    const mark = (id: string) => Promise.resolve(`ours: ${id}`);
    const told = await requirePlainHooks(engine, release, services, signal, { mark });
    const ran = ["ours: id of web", "id of hook"];
    assert.deepEqual(told, {
      services: { web: { image: "web", pre_start: ran.map((image) => ({ image })) } },
    });
  });

  it("judges hooks of a service whose name objects have, too", async () => {
    const web = { image: "web", pre_start: [{ image: "hook" }] };
    const model = { services: Object.fromEntries([["__proto__", web], ["db", { image: "db" }]]) };
    const engine = {
      imageId: (image: string) => Promise.resolve(`id of ${image}`),
      imageLabels: () => Promise.resolve({}),
    };
    const release = { key: stackKey("", "shop"), model };
    const services = [{ name: "__proto__", image: "web" }];
    const { signal } = new AbortController();
    const told = await requirePlainHooks(engine, release, services, signal);
    assert.deepEqual(JSON.parse(JSON.stringify(told)).services, {
      ["__proto__"]: { image: "web", pre_start: [{ image: "id of hook" }] },
      db: { image: "db" },
    });
  });

  for (
    const label of [
      "stackwright.job.run",
      "stackwright.manager",
      "com.docker.compose.oneoff",
      "com.docker.compose.container-number",
      "com.docker.swarm.service.id",
      "com.docker.stack.namespace",
    ]
  ) {
    it(`refuses an image that would pass for something else by ${label}`, async () => {
      await assert.rejects(judged({ image: "hook" }, { [label]: "x" }), {
        code: "unsupported",
        message: new RegExp(`image hook of a pre_start hook of service web has the label ${label}`),
      });
    });
  }

  it("refuses an image that is not there where all have to be: its name may get another one", async () => {
    const engine = { imageId: () => Promise.resolve(undefined), imageLabels: () => assert.fail() };
    const model = { services: { web: { image: "web", pre_start: [{ image: "gone" }] } } };
    const release = { key: stackKey("", "shop"), model };
    const services = [{ name: "web", image: "web" }];
    const mark = (id: string) => Promise.resolve(id);
    const judged = (all: boolean) => {
      const { signal } = new AbortController();
      return requirePlainHooks(engine, release, services, signal, all ? { mark } : {});
    };
    assert.deepEqual(await judged(false), model);
    const message = /image gone of a pre_start hook of service web is not on the engine/;
    await assert.rejects(judged(true), { code: "pull_failed", message });
  });
});

describe("withKnownMounts()", () => {
  it("mounts the images that are known, of services alone that know them", () => {
    const mount = (source: string, type = "image") => ({ type, source, target: "/files" });
    const model = (...sources: string[]) => ({
      services: {
        web: {
          image: "web:1",
          volumes: [...sources.map((each) => mount(each)), mount("x", "volume")],
        },
        db: { image: "db:1", volumes: [mount("tool:1")] },
      },
    });
    const images = { web: "sha256:web", "web/tool:1": "sha256:tool", "web/x": "sha256:x" };
    assert.deepEqual(
      withKnownMounts(model("tool:1", "web:1", "other:1"), images),
      model("sha256:tool", "sha256:web", "other:1"),
    );
  });
});
