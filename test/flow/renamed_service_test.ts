import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createRepository } from "../fakes/git_repository.ts";
import { freePort } from "../fakes/free_port.ts";
import { badService } from "./bad_service.ts";
import { startByHand } from "./by_hand.ts";
import { commandTo, rows } from "./commands.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import {
  commit,
  docker,
  inWorld,
  pollTo,
  readInside,
  reasons,
  states,
  writeInside,
} from "./steps.ts";
import { until } from "./until.ts";
import { createWorld, engines, type World } from "./world.ts";

const never = new AbortController().signal;
const VOLUMES = { volumes: { data: {} } };
const model = (services: Readonly<Record<string, Part>>) => composeFile(services, VOLUMES);

/** The restart policy of a service's container. */
async function policyOf(world: World, service: string): Promise<unknown> {
  const found = (await world.containers()).find((each) => each.service === service);
  const { host } = await world.engine.inspectContainer(found?.id ?? "", never) ?? {};
  return (host?.["RestartPolicy"] as { Name?: string } | undefined)?.Name;
}

for (const engine of await engines()) {
  describe(`a service that is renamed as its project is adopted, on the ${engine} engine`, () => {
    it("does not run beside its old self on one volume, which does not come back with the engine", () =>
      inWorld(engine, async (world) => {
        const sock = "/var/run/docker.sock:/x.sock";
        const old = service({ volumes: ["data:/data"], restart: "always" });
        const shared = service({ volumes: ["data:/shared"] });
        const aside = service({ volumes: [sock, "data:/read:ro"], restart: "always" });
        await startByHand(world, model({ app: old, aside, shared }));
        const moved = service({ volumes: ["data:/elsewhere", sock], restart: "always" });
        await commit(world, { "compose.yaml": model({ web: moved, shared }) });
        const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
        const name = `${world.stack}-app-1`;
        assert.ok(
          out.includes(
            `container ${name} is stopped first, and stays so (restart: no): it writes to what web writes to`,
          ),
          out,
        );
        assert.ok(out.includes(`; stop ${name}\n`), out);
        await pollTo(world, "succeeded");
        const now = { "app-1": "exited", "aside-1": "running", "shared-1": "running" };
        assert.deepEqual(await states(world), { ...now, "web-1": "running" });
        assert.equal(await policyOf(world, "app"), "no");
        assert.equal(await policyOf(world, "aside"), "always");
        await pollTo(world, "skipped");
      }));

    it("leaves its old self as it ran where the release fails", () =>
      inWorld(engine, async (world) => {
        const old = service({ volumes: ["data:/data"], restart: "always" });
        await startByHand(world, model({ app: old }));
        const bad = badService(world, { volumes: ["data:/data"] });
        await commit(world, { "compose.yaml": model({ web: bad }) });
        await pollTo(world, "failed");
        assert.deepEqual(await states(world), { "app-1": "running" });
        assert.equal(await policyOf(world, "app"), "always");
      }));

    it("leaves no old self on its port that comes back with the engine", () =>
      inWorld(engine, async (world) => {
        const port = await freePort();
        const one = service({ ports: [`${port}:80`], restart: "always" });
        const keeps = { remove_orphans: false };
        await commit(world, { "compose.yaml": model({ app: one }) }, keeps);
        await pollTo(world, "succeeded");
        await commit(world, { "compose.yaml": model({ web: one }) }, keeps);
        const run = await pollTo(world, "succeeded");
        assert.match(reasons(run, "app"), /is stopped first, and stays so \(restart: no\)/);
        assert.deepEqual(await states(world), { "app-1": "exited", "web-1": "running" });
        assert.equal(await policyOf(world, "app"), "no");
      }));

    // The rest is about us. What an old self is, and what is told of it, is decided by names and
    // labels; what starts it is above.
    if (engine === "real") return;

    it("is started and stopped over the API without its old self, which stays stopped", () =>
      inWorld(engine, async (world) => {
        const old = service({ volumes: ["data:/data"], stop_signal: "SIGKILL" });
        const aside = service({ stop_signal: "SIGKILL" });
        await startByHand(world, model({ app: old, aside }));
        await commit(world, { "compose.yaml": model({ web: old }) });
        await pollTo(world, "succeeded");
        const act = async (action: string) => {
          const path = `/v1/api/project/${world.stack}/${action}`;
          const response = await world.request(path, { method: "POST" });
          const { content } = await response.json();
          assert.equal(response.status, 200, content);
          return content;
        };
        const stays = "; not started, since the release does not have it: app";
        const now = { "app-1": "exited", "aside-1": "running", "web-1": "running" };
        assert.equal(await act("restart"), `project restarted: ${world.stack}${stays}`);
        assert.deepEqual(await states(world), now);
        for (const after of ["stop", "stop"]) await act(after);
        const isDown = async () =>
          Object.values(await states(world)).every((state) => state === "exited");
        await until(isDown);
        assert.equal(await act("start"), `project started: ${world.stack}${stays}`);
        assert.deepEqual(await states(world), now);
        await act("recreate");
        assert.deepEqual(await states(world), now);
      }));

    it("leaves an orphan of before as it ran where a later release fails", () =>
      inWorld(engine, async (world) => {
        const old = service({ volumes: ["data:/data"], restart: "always" });
        const other = service();
        await startByHand(world, model({ aside: old, other }));
        await commit(world, { "compose.yaml": model({ other }) });
        await pollTo(world, "succeeded");
        const before = { "aside-1": "running", "other-1": "running" };
        assert.deepEqual(await states(world), before);
        const bad = badService(world, { volumes: ["data:/data"] });
        await commit(world, { "compose.yaml": model({ bad, other }) });
        const failed = JSON.stringify(await pollTo(world, "failed"));
        assert.match(failed, /the previous release was put back/);
        assert.deepEqual(await states(world), before);
        assert.equal(await policyOf(world, "aside"), "always");
      }));

    it("gets what is mounted in its data from elsewhere, too", () =>
      inWorld(engine, async (world) => {
        const directory = await mkdtemp(join(tmpdir(), "swt-within-"));
        try {
          for (const each of ["copy/data/m", "m"]) {
            await mkdir(join(directory, each), { recursive: true });
          }
          for (const each of ["copy/data/file", "m/file"]) {
            await writeFile(join(directory, each), each);
          }
          const old = service({ volumes: ["./data:/data", `${directory}/m:/data/m`] });
          await startByHand(world, composeFile({ app: old }), {
            directory: join(directory, "copy"),
          });
          const moved = service({ volumes: ["./data:/data", "./data/m:/data/m"] });
          await commit(world, { "compose.yaml": composeFile({ app: moved }) });
          await pollTo(world, "succeeded");
          const data = join(world.dataDir, "releases/default", world.stack, "live/data");
          assert.equal(await readFile(join(data, "file"), "utf8"), "copy/data/file");
          assert.equal(await readFile(join(data, "m/file"), "utf8"), "m/file");
          await pollTo(world, "skipped");
        } finally {
          await rm(directory, { recursive: true });
        }
      }));

    it("says of its own old self, too, that it stays stopped, which runs again under its old name", () =>
      inWorld(engine, async (world) => {
        const one = service({ volumes: ["data:/data"], restart: "always" });
        const aside = service({ restart: "always" });
        const keeps = { remove_orphans: false };
        await commit(world, { "compose.yaml": model({ app: one, aside }) }, keeps);
        await pollTo(world, "succeeded");
        await commit(world, { "compose.yaml": model({ web: one }) }, keeps);
        const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
        const name = `${world.stack}-app-1`;
        const said =
          `container ${name} is stopped first, and stays so (restart: no): it writes to what web writes to`;
        assert.ok(out.includes(said), out);
        assert.ok(out.includes(`; stop ${name}\n`), out);
        assert.equal(reasons(await pollTo(world, "succeeded"), "app"), said);
        const now = { "app-1": "exited", "aside-1": "running", "web-1": "running" };
        assert.deepEqual(await states(world), now);
        assert.equal(await policyOf(world, "app"), "no");
        assert.equal(await policyOf(world, "aside"), "always");
        await pollTo(world, "skipped");
        await commit(world, { "compose.yaml": model({ app: one }) }, keeps);
        await pollTo(world, "succeeded");
        assert.deepEqual(await states(world), { ...now, "app-1": "running", "web-1": "exited" });
        assert.equal(await policyOf(world, "app"), "always");
        const bad = badService(world, { volumes: ["data:/data"] });
        await commit(world, { "compose.yaml": model({ bad }) }, keeps);
        await pollTo(world, "failed");
        assert.deepEqual(await states(world), { ...now, "app-1": "running", "web-1": "exited" });
        assert.equal(await policyOf(world, "app"), "always");
      }));

    it("is told of its old self where orphans are never removed, and may get its name back", () =>
      inWorld(engine, async (world) => {
        const directory = await mkdtemp(join(tmpdir(), "swt-renamed-"));
        try {
          await mkdir(join(directory, "data"));
          await writeFile(join(directory, "data/file"), "old");
          const one = service({ volumes: ["./data:/data"] });
          await startByHand(world, composeFile({ app: one }), { directory });
          const configuration = `name: ${world.stack}\nremove_orphans: false\n`;
          await commit(world, {
            ".stackwright.yaml": configuration,
            "compose.yaml": composeFile({ web: one }),
          });
          const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
          assert.match(out, /app: keep: container \S+ is stopped first, and stays so/);
          await pollTo(world, "succeeded");
          await commit(world, { "compose.yaml": composeFile({ app: one }) });
          await pollTo(world, "succeeded");
          assert.equal((await states(world))["app-1"], "running");
          await writeInside(world, "app", "/data/later", "new");
          const live = join(world.dataDir, "releases/default", world.stack, "live/data/later");
          assert.equal(await readFile(live, "utf8"), "new");
        } finally {
          await rm(directory, { recursive: true });
        }
      }));
  });
}

/** Ends a deployment while its renamed service is not healthy yet; at the next start it gets `health`. */
async function withHalf(
  { health, earlier = false, handedOver = false, volume = "data:/data", directory }: {
    readonly health: "healthy" | "unhealthy";
    /** Whether there is an earlier release, beside which the old container goes on. */
    readonly earlier?: boolean;
    /** Whether another repository, which deploys the same, has the stack by the next start. */
    readonly handedOver?: boolean;
    readonly volume?: string;
    readonly directory?: string;
  },
  test: (world: World) => Promise<void>,
): Promise<void> {
  const world = await createWorld({ engine: "fake", speed: 600 });
  const elsewhere = await mkdtemp(join(tmpdir(), "swt-other-"));
  const other = await createRepository(elsewhere);
  try {
    const old = service({ volumes: [volume], restart: "always" });
    await startByHand(world, model({ app: old }), directory === undefined ? {} : { directory });
    const healthcheck = { test: ["CMD", "true"] };
    const files = {
      "compose.yaml": model({ web: service({ volumes: [volume], healthcheck }) }),
    };
    const keeps = earlier ? { remove_orphans: false } : {};
    if (earlier) {
      await commit(world, { "compose.yaml": model({ other: service() }) }, keeps);
      await pollTo(world, "succeeded");
    }
    world.fake?.setBehaviour(`${world.stack}-web-1`, { health: "starting" });
    await commit(world, files, { ...keeps, timeout: "24h" });
    const polled = world.poll({}).catch(() => {});
    await until(async () => (await states(world))["web-1"] === "running");
    assert.equal(await policyOf(world, "app"), "no");
    await world.stop();
    await polled;
    await docker(world, "rm", "--force", `${world.stack}-web-1`);
    world.fake?.setBehaviour(`${world.stack}-web-1`, { health });
    if (handedOver) await commandTo(world, 0, ["adopt", world.stack, "--source", other.url]);
    await world.restart();
    await until(() => rows(world, "SELECT * FROM intents WHERE closed_at IS NULL").length === 0);
    if (handedOver) {
      await other.commit({ ".stackwright.yaml": `name: ${world.stack}\n`, ...files });
      await pollTo(world, health === "healthy" ? "succeeded" : "failed", { url: other.url });
    }
    await test(world);
  } finally {
    await world.close();
    await rm(elsewhere, { recursive: true });
  }
}

describe("a service that is renamed as its project is adopted, by a process that is killed", () => {
  it("does not get its old self beside it at the next start", () =>
    withHalf({ health: "healthy" }, async (world) => {
      assert.deepEqual(await states(world), { "app-1": "exited", "web-1": "running" });
      assert.equal(await policyOf(world, "app"), "no");
    }));

  it("leaves no copy behind that would count at the next attempt, where the release fails then", async () => {
    const directory = await mkdtemp(join(tmpdir(), "swt-half-"));
    try {
      await mkdir(join(directory, "data"));
      await writeFile(join(directory, "data/file"), "old");
      const half = { health: "unhealthy", volume: "./data:/data", directory } as const;
      await withHalf(half, async (world) => {
        assert.deepEqual(await states(world), { "app-1": "running" });
        await writeInside(world, "app", "/data/later", "later");
        await commit(world, {
          "compose.yaml": composeFile({ web: service({ volumes: ["./data:/data"] }) }),
        });
        await pollTo(world, "succeeded");
        assert.equal(await readInside(world, "web", "/data/later"), "later");
      });
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  for (const earlier of [false, true]) {
    const where = earlier ? ", also beside an earlier one" : "";
    it(`is its old self again, as that ran, where the release fails then${where}`, () =>
      withHalf({ health: "unhealthy", earlier }, async (world) => {
        const other = earlier ? { "other-1": "running" } : {};
        assert.deepEqual(await states(world), { "app-1": "running", ...other });
        assert.equal(await policyOf(world, "app"), "always");
      }));
  }

  it("is its old self again where the stack is handed over before, and its new owner's release fails", () =>
    withHalf({ health: "unhealthy", handedOver: true }, async (world) => {
      assert.deepEqual(await states(world), { "app-1": "running" });
      assert.equal(await policyOf(world, "app"), "always");
    }));
});
