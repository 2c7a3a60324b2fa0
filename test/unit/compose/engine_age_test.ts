import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { leftOutByCompose, requireKnownToEngine } from "../../../src/compose/mod.ts";

const OLD = "1.41";
const NEW = "1.48";
const service = (web: unknown) => ({ services: { web } });
const said = (model: Readonly<Record<string, unknown>>, api: string) =>
  requireKnownToEngine(model, "shop", () => Promise.resolve(api));

describe("requireKnownToEngine()", () => {
  const needed: readonly (readonly [key: string, model: Readonly<Record<string, unknown>>])[] = [
    [
      "volumes.volume.subpath needs Engine 26.0",
      service({ volumes: [{ type: "volume", source: "data", volume: { subpath: "a" } }] }),
    ],
    [
      "volumes.type: image needs Engine 28.0",
      service({ volumes: [{ type: "image", source: "data:1", target: "/data" }] }),
    ],
  ];
  for (const [told, model] of needed) {
    it(`refuses what an old engine would do otherwise: ${told}`, async () => {
      await assert.rejects(said(model, OLD), {
        code: "unsupported",
        message: `deployment shop: services.web.${told} or newer; this one speaks API 1.41. ` +
          "Update the engine, or take it out of the compose file. Nothing was changed",
      });
      assert.deepEqual(await said(model, NEW), []);
    });
  }

  const left: readonly (readonly [key: string, model: Readonly<Record<string, unknown>>])[] = [
    [
      "services.web.healthcheck.start_interval needs Engine 25.0",
      service({ healthcheck: { test: ["CMD", "a"], start_interval: "1s" } }),
    ],
    ["services.web.annotations needs Engine 24.0", service({ annotations: { a: "b" } })],
    [
      "services.web.networks.mac_address needs Engine 25.0",
      service({ networks: { a: { mac_address: "02:42:ac:11:00:07" } } }),
    ],
    [
      "services.web.networks.gw_priority needs Engine 28.0",
      service({ networks: { a: { gw_priority: 1 }, b: null } }),
    ],
    ["networks.a.enable_ipv4 needs Engine 28.0", { networks: { a: { enable_ipv4: false } } }],
  ];
  for (const [told, model] of left) {
    it(`says what an old engine leaves out: ${told}`, async () => {
      const text = `${told} or newer: this one, with API 1.41, leaves it out`;
      assert.deepEqual(await said(model, OLD), [text]);
      assert.deepEqual(await said(model, NEW), []);
    });
  }

  it("asks no engine about a model that any of them knows", async () => {
    const model = {
      ...service({
        volumes: [{ type: "volume", source: "data", target: "/data" }],
        healthcheck: { test: ["CMD", "a"] },
        networks: { a: { gw_priority: 0 } },
      }),
      networks: { a: { name: "shop_a", enable_ipv4: true } },
    };
    const never = () => Promise.reject(new Error("asked"));
    assert.deepEqual(await requireKnownToEngine(model, "shop", never), []);
  });
});

describe("leftOutByCompose()", () => {
  it("says what a container is made without, and nothing of what is empty", () => {
    const text =
      "services.web.credential_spec: docker compose leaves it out, so the container is made " +
      "without";
    assert.deepEqual(leftOutByCompose(service({ credential_spec: { file: "a.json" } })), [text]);
    assert.deepEqual(leftOutByCompose(service({ credential_spec: {} })), []);
    assert.deepEqual(leftOutByCompose(service({})), []);
  });
});
