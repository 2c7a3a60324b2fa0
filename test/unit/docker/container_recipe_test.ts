import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EngineApi } from "../../../src/docker/api.ts";
import { containerRecipe } from "../../../src/docker/container_recipe.ts";
import type { JsonRecord } from "../../../src/docker/json.ts";
import { longestStretch } from "../processor_time.ts";

/** The host configuration to make a container again of which an engine tells this. */
async function hostConfigOf(told: JsonRecord): Promise<JsonRecord> {
  const api = { find: () => Promise.resolve({ Id: "1", ...told }) } as unknown as EngineApi;
  const recipe = await containerRecipe(api, "1", new AbortController().signal);
  return recipe?.body["HostConfig"] as JsonRecord;
}

describe("containerRecipe()", () => {
  it("names anonymous volumes, of two in one place the first", async () => {
    const at = (Name: string, Destination: string) => ({ Type: "volume", Name, Destination });
    const config = await hostConfigOf({
      HostConfig: {
        Binds: ["/srv:/bound"],
        Mounts: [{ Type: "volume", Target: "/data" }, { Type: "tmpfs", Target: "/tmp" }],
      },
      Mounts: [at("a", "/data"), at("b", "/data"), at("c", "/image"), at("d", "/bound")],
    });
    assert.deepEqual(config, {
      Binds: ["/srv:/bound", "c:/image"],
      Mounts: [
        { Type: "volume", Target: "/data", Source: "a" },
        { Type: "tmpfs", Target: "/tmp" },
      ],
    });
  });

  it("finds the mounts of tens of thousands by their place, instead of looking through all", async () => {
    const places = Array.from({ length: 50_000 }, (_, at) => `/data/${at}`);
    const told = {
      HostConfig: { Mounts: places.map((Target) => ({ Type: "volume", Target })) },
      Mounts: places.map((Destination) => ({ Type: "volume", Name: "v", Destination })),
    };
    const stretch = await longestStretch(() => hostConfigOf(told));
    assert.ok(stretch < 1000, `${stretch} ms`);
  });
});
