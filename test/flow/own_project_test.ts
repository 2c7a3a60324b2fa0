import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemFiles } from "../../src/system/mod.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import { docker, pollTo } from "./steps.ts";
import { until } from "./until.ts";
import { createWorld, engines, type World } from "./world.ts";

const never = new AbortController().signal;

/** A world whose service takes itself for a process in the container that `own` says. */
async function inOwnWorld(
  engine: "fake" | "real",
  test: (world: World, becomes: (id: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  let own = "";
  const files: typeof systemFiles = {
    ...systemFiles,
    readIfExists: async (path, most) =>
      own !== "" && path === "/proc/self/cgroup"
        ? new TextEncoder().encode(`0::/system.slice/docker-${own}.scope\n`)
        : await systemFiles.readIfExists(path, most),
  };
  const world = await createWorld({ engine, files });
  try {
    await test(world, async (id) => {
      own = id;
      await world.restart();
    });
  } finally {
    await world.close();
  }
}

// Of a container that starts, the engine may fail to run the first probe (setns) on a busy machine.
const healthcheck = { test: ["CMD", "test", "!", "-e", "/sick"], interval: "500ms", retries: 3 };

for (const engine of await engines()) {
  describe(`the project that Stackwright runs in, on the ${engine} engine`, () => {
    it("is not removed, repaired or stopped once it is deployed; a person restarts it", () =>
      inOwnWorld(engine, async (world, becomes) => {
        const self = `${world.stack}-self`;
        const compose = composeFile({
          app: service({ healthcheck, stop_signal: "SIGKILL" }),
          proxy: service({ stop_signal: "SIGKILL" }),
        });
        await world.repository.commit({
          ".stackwright.yaml": configFile({
            working_dir: "apps",
            auto_discovery: { enabled: true, delete: true, remove_volumes: true },
          }),
          [`apps/${self}/compose.yaml`]: compose,
          [`apps/${world.stack}-other/compose.yaml`]: composeFile({ web: service() }),
        });
        await pollTo(world, "succeeded");
        const running = async () =>
          (await world.containers(self)).map(({ id, state }) => `${id} ${state}`);
        const before = await running();
        const { id = "" } = (await world.containers(self))[0] ?? {};
        await becomes(id);
        const said = (pattern: RegExp) =>
          world.lines.filter(({ message }) => pattern.test(message)).map(({ level }) => level);

        await world.repository.remove([`apps/${self}`]);
        for (let times = 0; times < 3; times++) await world.poll();
        assert.deepEqual(await running(), before);
        const kept = /is not removed, although nothing names it any more: Stackwright itself runs/;
        assert.deepEqual(said(kept), ["warning"]);
        assert.deepEqual(said(/was not removed/), []);

        if (world.fake !== undefined) world.fake.setHealth(`${self}-app-1`, "unhealthy");
        else await docker(world, "exec", `${self}-app-1`, "touch", "/sick");
        await until(() => Promise.resolve(said(/is not repaired: Stackwright itself/).length > 0));
        assert.deepEqual(said(/restarting the stack/), []);
        assert.deepEqual(await running(), before);

        const act = async (method: string, rest = "") => {
          const answer = await world.request(`/v1/api/project/${self}${rest}`, { method });
          return [answer.status, JSON.stringify(await answer.json())] as const;
        };
        for (const [method, rest] of [["POST", "/stop"], ["POST", "/recreate"], ["DELETE", ""]]) {
          const [status, text] = await act(method ?? "", rest);
          assert.equal(status, 409, text);
          assert.match(text, /Stackwright itself runs in/);
        }
        assert.deepEqual(await running(), before);
        const startedAt = async () =>
          (await world.engine.inspectContainer(id, never))?.startedAt?.getTime() ?? 0;
        const first = await startedAt();
        if (world.fake === undefined) await docker(world, "exec", `${self}-app-1`, "rm", "/sick");
        const [status, text] = await act("POST", "/restart");
        assert.equal(status, 200, text);
        assert.ok(await startedAt() > first);
        assert.deepEqual(await running(), before);
      }));
  });
}
