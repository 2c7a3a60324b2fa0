import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { nameAside } from "../../src/deploy/compose/act_on_services.ts";
import { badService } from "./bad_service.ts";
import { commandTo, rows } from "./commands.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { actions, commit, docker, inWorld, pollTo, states } from "./steps.ts";
import { until } from "./until.ts";
import { engines, type World } from "./world.ts";

const KEEPS = { remove_orphans: false };

async function deploy(world: World, services: Record<string, Part>, status: string) {
  await commit(world, { "compose.yaml": composeFile(services) }, KEEPS);
  return await pollTo(world, status);
}

for (const engine of await engines()) {
  describe(`services that a failed release added, on the ${engine} engine`, () => {
    it("go when it is taken back although orphans stay, and an orphan of before stays", () =>
      inWorld(engine, async (world) => {
        const [kept, web] = [service(), service()];
        await deploy(world, { kept, old: service(), web }, "succeeded");
        await deploy(world, { kept, web }, "skipped");
        const before = await states(world);
        assert.deepEqual(Object.keys(before), ["kept-1", "old-1", "web-1"]);
        const bad = { kept, web: badService(world), worker: service() };
        const failed = await deploy(world, bad, "failed");
        assert.equal(actions(failed)["worker"], "create");
        assert.match(JSON.stringify(failed), /the previous release was put back/);
        assert.deepEqual(await states(world), before);
      }));

    it("go when a person rolls it back although orphans stay, and an orphan of before stays", () =>
      inWorld(engine, async (world) => {
        const web = (number: string) => service({ labels: { number } });
        await deploy(world, { old: service(), web: web("1") }, "succeeded");
        await deploy(world, { web: web("2") }, "succeeded");
        await deploy(world, { web: web("3"), worker: service() }, "succeeded");
        assert.deepEqual(Object.keys(await states(world)), ["old-1", "web-1", "worker-1"]);
        const { out } = await commandTo(world, 0, ["rollback", world.stack]);
        assert.equal(out, `${world.stack} is back at release 2 (recreate web; remove worker)\n`);
        assert.deepEqual(Object.keys(await states(world)), ["old-1", "web-1"]);
      }));

    if (engine === "real") return;

    it("leave an orphan that was kept the name that it gets back where their renaming is rolled back", () =>
      inWorld(engine, async (world) => {
        const one = service({ container_name: `${world.stack}-x`, volumes: ["/anonymous"] });
        await deploy(world, { old: one }, "succeeded");
        const [before] = await world.containers();
        const volume = await anonymousVolume(world, "x");
        await deploy(world, { web: one }, "succeeded");
        const aside = (await world.containers()).find((each) => each.service === "old");
        assert.equal(aside?.name, nameAside(before?.id ?? "", `${world.stack}-x`));
        await commandTo(world, 0, ["rollback", world.stack]);
        assert.deepEqual(await states(world), { x: "running" });
        assert.equal((await world.containers())[0]?.service, "old");
        assert.equal(await anonymousVolume(world, "x"), volume);
      }));

    it("are not an orphan of before which a rollback that failed had replaced: it stays, stopped as it was", () =>
      inWorld(engine, async (world) => {
        const healthcheck = { test: ["CMD", "true"], interval: "1s", retries: 1 };
        const one = service({
          ...{ volumes: ["data:/data", "/anonymous"], restart: "always", healthcheck },
        });
        const volumes = { volumes: { data: {} } };
        const rename = (name: string) =>
          commit(world, { "compose.yaml": composeFile({ [name]: one }, volumes) }, KEEPS);
        await rename("old");
        await pollTo(world, "succeeded");
        const volume = await anonymousVolume(world, "old-1");
        await rename("web");
        await pollTo(world, "succeeded");
        const before = { "old-1": "exited", "web-1": "running" };
        assert.deepEqual(await states(world), before);
        world.fake?.setBehaviour(`${world.stack}-old-1`, { health: "unhealthy" });
        const { err } = await commandTo(world, 1, ["rollback", world.stack]);
        assert.match(err, /put back: restored web$/m);
        assert.deepEqual(await states(world), before);
        assert.equal(await anonymousVolume(world, "old-1"), volume);
        const policy = ["inspect", "--format", "{{.HostConfig.RestartPolicy.Name}}"];
        assert.equal((await docker(world, ...policy, `${world.stack}-old-1`)).trim(), "no");
      }));

    it("go also when the service was killed meanwhile and the release fails at the next start", () =>
      inWorld(engine, async (world) => {
        const web = service();
        await deploy(world, { web }, "succeeded");
        await deploy(world, { web: badService(world), worker: service() }, "failed");
        // The ledger and the engine as a kill leaves them: all is made, nothing is judged.
        await world.stop();
        const database = new DatabaseSync(join(world.dataDir, "state.db"));
        database.exec(
          "UPDATE intents SET closed_at = NULL, outcome = NULL, owner = '1:gone' " +
            "WHERE rowid = (SELECT max(rowid) FROM intents)",
        );
        database.exec("UPDATE releases SET status = 'applying' WHERE number = 2");
        database.close();
        await world.restart();
        await world.app.polled;
        // Polls do not wait for interrupted work that takes long by the world's clock, which runs ahead.
        await until(() =>
          rows(world, "SELECT * FROM intents WHERE closed_at IS NULL").length === 0
        );
        const [release] = rows(world, "SELECT status FROM releases WHERE number = 2");
        assert.equal(release?.["status"], "rolled_back");
        assert.deepEqual(await states(world), { "web-1": "running" });
      }));
  });
}

async function anonymousVolume(world: World, name: string): Promise<string> {
  const format = '{{range .Mounts}}{{if eq .Destination "/anonymous"}}{{.Name}}{{end}}{{end}}';
  const text = await docker(world, "inspect", "--format", format, `${world.stack}-${name}`);
  return text.trim();
}
