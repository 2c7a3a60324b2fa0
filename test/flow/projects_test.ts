import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { badService } from "./bad_service.ts";
import { startByHand } from "./by_hand.ts";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, docker, ids, inWorld, pollTo, states } from "./steps.ts";
import { createWorld, engines, type World } from "./world.ts";

const CANARY = "canary-9f31c7";
const COMPOSE = composeFile({
  db: service({ restart: "always", stop_signal: "SIGKILL", volumes: ["data:/data"] }),
  web: service({
    restart: "always",
    stop_signal: "SIGKILL",
    depends_on: ["db"],
    environment: { PASSWORD: CANARY },
    labels: { "traefik.basicauth": CANARY },
    command: ["sleep", "100000"],
  }),
}, { volumes: { data: {} } });

/** The engine answers a stop a moment before its list says so. */
async function bothStopped(world: World): Promise<void> {
  const expected = { "db-1": "exited", "web-1": "exited" };
  for (let tries = 0; tries < 1500; tries++) {
    if (Object.values(await states(world)).every((each) => each === "exited")) break;
    await new Promise((done) => setTimeout(done, 20));
  }
  assert.deepEqual(await states(world), expected);
}

async function act(world: World, method: string, rest = ""): Promise<[number, unknown]> {
  const response = await world.request(`/v1/api/project/${world.stack}${rest}`, { method });
  const body = await response.json();
  return [response.status, body.error ?? body.content];
}

for (const engine of await engines()) {
  describe(`projects over REST on the ${engine} engine`, () => {
    it("stop, start, restart, show and remove; the next poll makes what is missing again", () =>
      inWorld(engine, async (world) => {
        await commit(world, { "compose.yaml": COMPOSE });
        await pollTo(world, "succeeded");
        const made = await ids(world);

        assert.deepEqual(await act(world, "POST", "/stop"), [
          200,
          `project stopped: ${world.stack}; nothing of it is deployed or repaired until it is ` +
          "started again",
        ]);
        await bothStopped(world);
        const held = await pollTo(world, "skipped");
        assert.match(held.deployments?.[0]?.reason ?? "", /^paused: \S+ was stopped over the API/);
        assert.deepEqual(await states(world), { "db-1": "exited", "web-1": "exited" });
        const listed = async (query: string) => {
          const { content } = await (await world.request(`/v1/api/projects${query}`)).json();
          return content.find((each: { Name: string }) => each.Name === world.stack);
        };
        assert.equal(await listed(""), undefined);
        assert.equal((await listed("?all=true")).Status, "exited(2)");

        assert.equal((await act(world, "POST", "/start"))[0], 200);
        assert.deepEqual(await states(world), { "db-1": "running", "web-1": "running" });
        assert.equal((await act(world, "POST", "/restart"))[0], 200);
        assert.deepEqual(await ids(world), made);
        assert.equal((await pollTo(world, "skipped")).deployments?.[0]?.reason, "no_changes");

        const [status, containers] = await act(world, "GET");
        assert.equal(status, 200);
        const text = JSON.stringify(containers);
        assert.ok(!text.includes(CANARY), text);
        assert.match(text, /"Service":"web"/);
        assert.match(text, new RegExp(`"Networks":\\["${world.stack}_default"\\]`));
        assert.match(text, new RegExp(`"Mounts":\\["${world.stack}_data"\\]`));

        assert.deepEqual(await act(world, "DELETE", "?volumes=true&images=false"), [
          200,
          `project removed: ${world.stack}; deleted volume ${world.stack}_data`,
        ]);
        assert.deepEqual(await ids(world), {});
        assert.doesNotMatch(await docker(world, "volume", "ls"), new RegExp(world.stack));
        assert.doesNotMatch(await docker(world, "network", "ls"), new RegExp(world.stack));
        const { out } = await commandTo(world, 0, ["explain", "--json", world.stack]);
        assert.match(
          JSON.parse(out).why,
          /a repository still describes comes back at its next poll/,
        );
        const told: { kind: string; trigger: string; outcome?: { status: string } }[] =
          JSON.parse(out).decisions;
        assert.deepEqual(
          told.filter(({ trigger }) => trigger === "project").map(({ kind, outcome }) =>
            `${kind} ${outcome?.status}`
          ),
          ["destroy", "restart", "start", "stop"].map((kind) => `${kind} succeeded`),
        );
        assert.deepEqual(await act(world, "DELETE"), [404, "project not found"]);
        await pollTo(world, "succeeded");
        assert.deepEqual(await states(world), { "db-1": "running", "web-1": "running" });
      }));

    it("are removed with the networks that are all that is left of them; data alone is kept", () =>
      inWorld(engine, async (world) => {
        const label = ["--label", `com.docker.compose.project=${world.stack}`];
        await docker(world, "volume", "create", ...label, `${world.stack}_data`);
        assert.equal((await act(world, "DELETE"))[0], 404);
        await docker(world, "network", "create", ...label, `${world.stack}_left`);
        assert.deepEqual(await act(world, "DELETE", "?volumes=false"), [
          200,
          `project removed: ${world.stack}`,
        ]);
        assert.equal((await act(world, "DELETE", "?volumes=false"))[0], 404);
        assert.doesNotMatch(await docker(world, "network", "ls"), new RegExp(world.stack));
        assert.match(await docker(world, "volume", "ls"), new RegExp(`${world.stack}_data`));
      }));

    // The rest is about us. What is refused and what waits no engine decides.
    if (engine === "real") return;

    it("end the stop of a stack whose stopped containers were pruned, and the next poll makes them", () =>
      inWorld(engine, async (world) => {
        await commit(world, { "compose.yaml": COMPOSE });
        await pollTo(world, "succeeded");
        await act(world, "POST", "/stop");
        for (const each of Object.keys(await ids(world))) {
          await docker(world, "rm", "-f", `${world.stack}-${each}`);
        }
        assert.deepEqual(await ids(world), {});
        await pollTo(world, "skipped");
        assert.equal((await act(world, "POST", "/stop"))[0], 200);
        assert.deepEqual(await act(world, "POST", "/start"), [
          200,
          `project started: ${world.stack}; it has no container: the next look at it (a poll) ` +
          "makes what is missing",
        ]);
        await pollTo(world, "succeeded");
        assert.deepEqual(await states(world), { "db-1": "running", "web-1": "running" });
      }));

    it("make containers anew from what is deployed, not from what was committed since", () =>
      inWorld(engine, async (world) => {
        await commit(world, { "compose.yaml": COMPOSE });
        await pollTo(world, "succeeded");
        const first = await ids(world);
        await commit(world, { "compose.yaml": COMPOSE.replace(CANARY, "another") });

        assert.deepEqual(await act(world, "POST", "/recreate?service=nope"), [
          404,
          "service not found",
        ]);
        const other = await world.request(`/v1/api/project/${world.stack}/recreate?service=nope`, {
          method: "POST",
        });
        assert.match((await other.json()).content, /^the release has the services .*\bweb\b/);
        assert.deepEqual(await ids(world), first);
        assert.deepEqual(await act(world, "POST", "/recreate?service=web"), [
          200,
          `service recreated: ${world.stack}/web`,
        ]);
        const second = await ids(world);
        assert.equal(second["db-1"], first["db-1"]);
        assert.notEqual(second["web-1"], first["web-1"]);

        assert.equal((await act(world, "POST", "/stop"))[0], 200);
        assert.deepEqual(await act(world, "POST", "/recreate"), [
          200,
          `project recreated: ${world.stack}`,
        ]);
        const third = await ids(world);
        assert.notEqual(third["db-1"], first["db-1"]);
        assert.notEqual(third["web-1"], second["web-1"]);
        assert.deepEqual(await states(world), { "db-1": "running", "web-1": "running" });
        const { out } = await commandTo(world, 0, ["history", "--json", world.stack]);
        const digests = JSON.parse(out).map((each: { digest: string }) => each.digest);
        assert.equal(new Set(digests).size, 1, "it is the same release");
        // The stop is over, and the commit of before is still to be deployed.
        await pollTo(world, "succeeded");
      }));

    it("stay stopped where what was to start them fails, and is put back", () =>
      inWorld(engine, async (world) => {
        const bad = badService(world);
        await commit(world, { "compose.yaml": composeFile({ db: service(), web: bad }) });
        await pollTo(world, "failed");
        await commit(world, { "compose.yaml": COMPOSE });
        await pollTo(world, "succeeded");
        assert.equal((await act(world, "POST", "/stop"))[0], 200);
        const { err } = await commandTo(world, 1, ["rollback", world.stack, "1"]);
        const left = Object.values(await states(world)).filter((each) => each === "running");
        assert.deepEqual(left, []);
        assert.match(err, /put back: restored db, web; stopped, as it was/);
        const held = await pollTo(world, "skipped");
        assert.match(held.deployments?.[0]?.reason ?? "", /^paused: \S+ was stopped over the API/);
        assert.equal((await act(world, "POST", "/start"))[0], 200);
        assert.deepEqual(await states(world), { "db-1": "running", "web-1": "running" });
      }));

    it("refuse to make anew what was not deployed from here, and touch nothing", () =>
      inWorld(engine, async (world) => {
        const recreate = (project: string) =>
          world.request(`/v1/api/project/${project}/recreate`, { method: "POST" });
        assert.equal((await recreate(world.stack)).status, 404);
        await startByHand(world, COMPOSE);
        const made = await ids(world);
        const refused = await recreate(world.stack);
        assert.equal(refused.status, 409);
        assert.match((await refused.json()).error, /force_recreate: true/);
        assert.deepEqual(await ids(world), made);
      }));

    it("wait for a deployment of the same stack that is under way, however long this machine takes", async () => {
      let isLong: Promise<void> | undefined;
      const world = await createWorld({
        engine,
        speed: 50,
        // Longer than the time that the API gives an action which does not ask for more.
        onMutation: (_, { path }) =>
          path.endsWith("/start")
            ? isLong ??= world.clock.sleep(40_000, new AbortController().signal)
            : undefined,
      });
      try {
        await commit(world, { "compose.yaml": COMPOSE });
        const deployed = pollTo(world, "succeeded");
        while ((await ids(world))["db-1"] === undefined) {
          await new Promise((done) => setTimeout(done, 10));
        }
        const stopped = act(world, "POST", "/stop");
        await deployed;
        assert.equal((await stopped)[0], 200);
        await bothStopped(world);
      } finally {
        await world.close();
      }
    });
  });
}

describe("a project whose release cannot be had any more", () => {
  it("is not made anew: 409, and what runs is not touched", () =>
    inWorld("fake", async (world) => {
      await commit(world, { "compose.yaml": COMPOSE });
      await pollTo(world, "succeeded");
      const made = await ids(world);
      await world.stop();
      for (const gone of [join(world.dataDir, "sources"), world.repository.path]) {
        await rm(gone, { recursive: true });
      }
      await world.restart();
      const [status, error] = await act(world, "POST", "/recreate");
      assert.equal(status, 409);
      assert.match(String(error), /neither on disk nor in the mirror.*force_recreate: true/);
      assert.deepEqual(await ids(world), made);
    }));
});
