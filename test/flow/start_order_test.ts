import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeFile, type Part, service } from "./compose_text.ts";
import { commit, docker, ids, inWorld, pollTo, replaced, states } from "./steps.ts";
import { engines, type World } from "./world.ts";

const waitsFor = (name: string, condition: string) => ({ depends_on: { [name]: { condition } } });

/** A service that proves healthy a second after it was started. */
function slow(more: Part = {}): Part {
  return service({
    command: ["sh", "-c", "rm -f /ready; sleep 1; touch /ready; exec sleep 100000"],
    healthcheck: { test: ["CMD", "test", "-f", "/ready"], interval: "300ms", retries: 100 },
    restart: "always",
    ...more,
  });
}

const app = (value: string, more: Part = {}) =>
  service({ environment: { VALUE: value }, restart: "always", ...more });

for (const engine of await engines()) {
  describe(`depends_on between services changed in different ways on the ${engine} engine`, () => {
    it("a job that a commit adds has ended before the service that waits for it starts", () =>
      inWorld(engine, async (world) => {
        world.fake?.setBehaviour("migrate", { exit: 0, afterMs: 300 });
        const wait = waitsFor("migrate", "service_completed_successfully");
        await commit(world, { "compose.yaml": composeFile({ app: app("1") }) });
        await pollTo(world, "succeeded");
        await commit(world, {
          "compose.yaml": composeFile({
            app: app("2", wait),
            migrate: service({ command: ["sleep", "1"] }),
          }),
        });
        await pollTo(world, "succeeded");
        const ended = await instant(world, "migrate", "FinishedAt");
        assert.ok(await instant(world, "app", "StartedAt") >= ended);
      }));

    it("a job that fails leaves the service that waits for it as it was", () =>
      inWorld(engine, async (world) => {
        world.fake?.setBehaviour("migrate", { exit: 4, afterMs: 100 });
        const wait = waitsFor("migrate", "service_completed_successfully");
        await commit(world, { "compose.yaml": composeFile({ app: app("1") }) });
        await pollTo(world, "succeeded");
        const before = await ids(world);
        await commit(world, {
          "compose.yaml": composeFile({
            app: app("2", wait),
            migrate: service({ command: ["sh", "-c", "exit 4"] }),
          }),
        });
        const { deployments } = await pollTo(world, "failed");
        assert.match(deployments?.[0]?.message ?? "", /app waits for migrate: .* ended with 4/);
        assert.equal((await ids(world))["app-1"], before["app-1"]);
        assert.equal((await states(world))["app-1"], "running");
      }));

    it("a job that fails leaves a network that changes, and who uses it, as they were", () =>
      inWorld(engine, async (world) => {
        world.fake?.setBehaviour("migrate", { exit: 4, afterMs: 100 });
        const wait = waitsFor("migrate", "service_completed_successfully");
        const networks = (internal: boolean) => ({ networks: { inner: { internal } } });
        const web = app("1", { networks: ["inner"] });
        await commit(world, { "compose.yaml": composeFile({ web }, networks(false)) });
        await pollTo(world, "succeeded");
        const shown = async () => [
          await docker(world, "network", "inspect", "--format", "{{.Id}}", `${world.stack}_inner`),
          await instant(world, "web", "StartedAt"),
        ];
        const before = await shown();
        await commit(world, {
          "compose.yaml": composeFile({
            web: app("1", { networks: ["inner"], ...wait }),
            migrate: service({ command: ["sh", "-c", "exit 4"], network_mode: "none" }),
          }, networks(true)),
        });
        await pollTo(world, "failed");
        assert.deepEqual(await shown(), before);
      }));

    it("a new service waits for a replaced one to be healthy, in a rollback too", () =>
      inWorld(engine, async (world) => {
        world.fake?.setBehaviour("db", { health: "healthy", afterMs: 300 });
        world.fake?.setBehaviour("web", { exit: 3, afterMs: 0 });
        await commit(world, { "compose.yaml": composeFile({ db: slow() }) });
        await pollTo(world, "succeeded");
        const wait = waitsFor("db", "service_healthy");
        const db = slow({ environment: { VALUE: "2" } });
        await commit(world, { "compose.yaml": composeFile({ db, app: app("1", wait) }) });
        await pollTo(world, "succeeded");
        await assertStartedAfterHealth(world);

        // The database is stopped, and what depends on it is replaced by something that fails.
        const before = await ids(world);
        await docker(world, "stop", "--time", "0", `${world.stack}-db-1`);
        const web = service({ command: ["sh", "-c", "exit 3"] });
        await commit(world, { "compose.yaml": composeFile({ db, app: app("2", wait), web }) });
        await pollTo(world, "failed");
        await assertStartedAfterHealth(world);
        const now = await states(world);
        assert.equal(now["db-1"], "running");
        assert.equal(now["app-1"], "running");
        assert.deepEqual(replaced(before, await ids(world)), ["app-1"]);
      }));
  });
}

/** `db` takes at least 300 ms to be healthy. */
async function assertStartedAfterHealth(world: World): Promise<void> {
  const [db, app] = [
    await instant(world, "db", "StartedAt"),
    await instant(world, "app", "StartedAt"),
  ];
  assert.ok(app - db >= 250, `app was started ${app - db} ms after db`);
}

/** Milliseconds since 1970 of a time in the state of a service's first container. */
async function instant(world: World, name: string, field: string): Promise<number> {
  const id = `${world.stack}-${name}-1`;
  const text = await docker(world, "inspect", "--format", `{{.State.${field}}}`, id);
  return Date.parse(text.trim().replace(/ \+0000 UTC$/, "Z").replace(" ", "T"));
}
