import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ContainerMount } from "../../../../src/docker/engine.ts";
import type { EngineWork } from "../../../../src/deploy/engine/engine_work.ts";
import { requireNamedMounts } from "../../../../src/deploy/engine/require_named_mounts.ts";
import { createMemoryEngine, runningContainer } from "../../../fakes/memory_engine.ts";

const never = new AbortController().signal;
const HEX = "0123456789abcdef".repeat(4);

describe("requireNamedMounts()", () => {
  const mount = (destination: string, more: Partial<ContainerMount> = {}): ContainerMount => ({
    ...{ kind: "bind", name: "", source: "/srv", destination, writable: true },
    ...more,
  });
  const nameless = mount("/n", { kind: "volume", name: HEX });
  const check = (mounts: readonly ContainerMount[], more: {
    readonly web?: object;
    readonly state?: "created" | "running";
    readonly options?: Readonly<Record<string, string>>;
  } = {}) => {
    const engine = createMemoryEngine();
    const containers = [runningContainer("shop", "web", { state: more.state ?? "created" })];
    const volume = { id: HEX, name: HEX, driver: "local", labels: {}, options: more.options ?? {} };
    Object.assign(engine, {
      inspectContainer: (id: string) =>
        Promise.resolve({ mounts: id === "other" ? [mount("/o")] : mounts }),
      findVolumes: () => Promise.resolve([volume]),
    });
    const volumes = [
      { type: "bind", source: "/srv", target: "/v/" },
      { type: "volume", target: "/n" },
    ];
    const model = {
      services: {
        web: { volumes, secrets: [{ source: "key" }], ...more.web },
        db: { volumes: [{ type: "bind", source: "/srv", target: "/db" }] },
      },
      secrets: { key: { file: "/srv/key" } },
    };
    const changes = { key: { context: "default", name: "shop" }, scale: { web: 1 } };
    const work = { parts: { engine }, changes, model } as unknown as EngineWork;
    return requireNamedMounts(work, containers, never);
  };

  it("lets pass what the model names, and volumes without a name", async () => {
    await check([mount("/v"), mount("/run/secrets/key"), nameless]);
    const web = { volumes_from: ["db", "container:other:ro"] };
    await check([mount("/v"), mount("/db"), mount("/o")], { web });
    await check([mount("/x")], { state: "running" });
  });

  it("refuses what compose took over from the container before", async () => {
    const refused = { code: "conflict", message: /its compose file does not name/ };
    for (const each of [mount("/x"), mount("/n"), mount("/n", { kind: "volume", name: "data" })]) {
      await assert.rejects(check([each]), refused);
    }
    await assert.rejects(check([nameless], { options: { device: "/srv" } }), refused);
  });
});
