import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeFile, configFile, service } from "./compose_text.ts";
import {
  actions,
  commit,
  ids,
  inWorld,
  label,
  pollTo,
  reasons,
  replaced,
  states,
} from "./steps.ts";
import { engines } from "./world.ts";

const CONFIG = ".stackwright.yaml";

for (const engine of await engines()) {
  describe(`deployment fields on the ${engine} engine`, () => {
    it("profiles start and take away the services of a profile, and nothing else", () =>
      inWorld(engine, async (world) => {
        const files = {
          "compose.yaml": composeFile({
            web: service(),
            debug: service({ profiles: ["debug"] }),
            other: service({ profiles: ["other"] }),
          }),
        };
        await commit(world, files);
        await pollTo(world, "succeeded");
        const first = await ids(world);
        assert.deepEqual(Object.keys(first), ["web-1"]);

        await commit(world, {}, { profiles: ["debug"] });
        assert.deepEqual(actions(await pollTo(world, "succeeded")), {
          debug: "create",
          web: "keep",
        });
        const second = await ids(world);
        assert.deepEqual(Object.keys(second), ["debug-1", "web-1"]);
        await commit(world, {}, { profiles: [] });
        await pollTo(world, "succeeded");
        assert.deepEqual(await ids(world), first);
      }));

    it("remove_orphans removes the containers of services that are gone; false keeps them", () =>
      inWorld(engine, async (world) => {
        const both = composeFile({ web: service(), worker: service() });
        const one = composeFile({ web: service() });
        await commit(world, { "compose.yaml": both }, { remove_orphans: false });
        await pollTo(world, "succeeded");
        const first = await ids(world);

        await commit(world, { "compose.yaml": one }, { remove_orphans: false });
        world.proxy.reset();
        await world.poll();
        assert.deepEqual(await ids(world), first);
        assert.equal(world.proxy.mutations(), 0);

        await commit(world, {}, { remove_orphans: true });
        const finished = await pollTo(world, "succeeded");
        assert.equal(actions(finished)["worker"], "remove");
        assert.match(reasons(finished, "worker"), /no longer in the compose files/);
        assert.deepEqual(await ids(world), { "web-1": first["web-1"] });
        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);
      }));

    it("force_recreate replaces every container whenever a person asks for a run", () =>
      inWorld(engine, async (world) => {
        const files = { "compose.yaml": composeFile({ web: service(), worker: service() }) };
        await commit(world, files, { force_recreate: true });
        await pollTo(world, "succeeded");
        const first = await ids(world);
        const finished = await pollTo(world, "succeeded");
        assert.match(reasons(finished, "web"), /force_recreate/);
        const second = await ids(world);
        assert.deepEqual(replaced(first, second), ["web-1", "worker-1"]);
        await commit(world, {}, { force_recreate: false });
        await pollTo(world, "skipped");
        assert.deepEqual(await ids(world), second);
      }));

    // The rest is about us. What these ask for is settled in the model that compose gives, or by the
    // clock.
    if (engine === "real") return;

    it("an optional dependency whose profile is off keeps nobody from deploying", () =>
      inWorld(engine, async (world) => {
        const files = {
          "compose.yaml": composeFile({
            web: service({
              depends_on: { tool: { condition: "service_started", required: false } },
            }),
            tool: service({ profiles: ["tools"] }),
          }),
        };
        await commit(world, files);
        await pollTo(world, "succeeded");
        assert.deepEqual(await states(world), { "web-1": "running" });
        world.proxy.reset();
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);
        await commit(world, {}, { profiles: ["tools"] });
        await pollTo(world, "succeeded");
        assert.deepEqual(await states(world), { "tool-1": "running", "web-1": "running" });
        await commit(world, {}, {});
        await pollTo(world, "succeeded");
        assert.deepEqual(await states(world), { "web-1": "running" });
      }));

    it("timeout ends the wait for a service that never becomes healthy", () =>
      inWorld(engine, async (world) => {
        world.fake?.setBehaviour("web", { health: "starting" });
        const healthcheck = { test: ["CMD", "false"], interval: "1s", retries: 100 };
        await commit(world, {
          "compose.yaml": composeFile({ web: service({ healthcheck }), worker: service() }),
        }, { timeout: 2 });
        const { deployments } = await pollTo(world, "failed");
        const message = deployments?.[0]?.message ?? "";
        assert.match(message, /not healthy within the deployment's timeout/);
        assert.match(message, /web: health check is starting/);
        assert.doesNotMatch(message, /timeout:.*worker/);
      }));

    it("compose_files are merged in their order", () =>
      inWorld(engine, async (world) => {
        const value = (text: string) => composeFile({ web: { labels: { "test.value": text } } });
        const files = {
          "base.yaml": composeFile({ web: service({ labels: { "test.base": "base" } }) }),
          "a.yaml": value("a"),
          "b.yaml": value("b"),
          "compose.yaml": "not: [read",
        };
        await commit(world, files, { compose_files: ["base.yaml", "a.yaml", "b.yaml"] });
        await pollTo(world, "succeeded");
        assert.equal(await label(world, "web", "test.value"), "b");
        assert.equal(await label(world, "web", "test.base"), "base");
        await commit(world, {}, { compose_files: ["base.yaml", "b.yaml", "a.yaml"] });
        await pollTo(world, "succeeded");
        assert.equal(await label(world, "web", "test.value"), "a");
      }));

    it("several documents deploy several stacks, each from its own directory and by itself", () =>
      inWorld(engine, async (world) => {
        const names = [`${world.stack}-a`, `${world.stack}-b`] as const;
        const app = (text: string) => composeFile({ web: service({ labels: { "test.v": text } }) });
        await world.repository.commit({
          [CONFIG]: configFile(
            { name: names[0], working_dir: "a" },
            { name: names[1], working_dir: "deep/er/b", compose_files: ["stack.yaml"] },
          ),
          "a/compose.yaml": app("a"),
          "deep/er/b/stack.yaml": app("b"),
        });
        const finished = await pollTo(world, "succeeded");
        assert.deepEqual(finished.deployments?.map((each) => each.stack).sort(), [...names]);
        assert.equal(await label(world, "web", "test.v", names[0]), "a");
        assert.equal(await label(world, "web", "test.v", names[1]), "b");
        const [a, b] = [await ids(world, names[0]), await ids(world, names[1])];

        await world.repository.commit({ "a/compose.yaml": app("a2") });
        const next = await pollTo(world, "succeeded");
        assert.deepEqual(
          Object.fromEntries(next.deployments?.map((each) => [each.stack, each.status]) ?? []),
          { [names[0]]: "succeeded", [names[1]]: "skipped" },
        );
        assert.deepEqual(replaced(a, await ids(world, names[0])), ["web-1"]);
        assert.deepEqual(await ids(world, names[1]), b);
      }));
  });
}

describe("deployment fields", () => {
  const files = { "compose.yaml": composeFile({ web: service() }) };

  it("the first default name that exists is used, alone, and the log says so", () =>
    inWorld("fake", async (world) => {
      const named = (name: string) => composeFile({ [name]: service() });
      await commit(world, {
        "docker-compose.yml": named("last"),
        "container-compose.yaml": named("late"),
        "compose.yml": named("second"),
      });
      await pollTo(world, "succeeded");
      assert.deepEqual(Object.keys(await ids(world)), ["second-1"]);
      const told = world.lines.map((line) => line.message).join("\n");
      assert.match(told, /container-compose\.yaml: not used: compose\.yml comes first; to merge/);
      await commit(world, { "compose.yaml": named("first") });
      await pollTo(world, "succeeded");
      assert.deepEqual(Object.keys(await ids(world)), ["first-1"]);
    }));

  it("docker-compose.yml is found when there is nothing else", () =>
    inWorld("fake", async (world) => {
      await commit(world, { "docker-compose.yml": files["compose.yaml"] });
      await pollTo(world, "succeeded");
      assert.deepEqual(Object.keys(await ids(world)), ["web-1"]);
    }));

  it("pause leaves everything as it is until it is taken back", () =>
    inWorld("fake", async (world) => {
      await commit(world, files);
      await pollTo(world, "succeeded");
      const before = await ids(world);
      const changed = { "compose.yaml": composeFile({ web: service({ tty: true }) }) };
      await commit(world, changed, { pause: true });
      world.proxy.reset();
      const finished = await pollTo(world, "skipped");
      assert.match(finished.deployments?.[0]?.reason ?? "", /^paused/);
      assert.deepEqual(await ids(world), before);
      assert.equal(world.proxy.mutations(), 0);
      await commit(world, {}, { pause: false });
      await pollTo(world, "succeeded");
      assert.deepEqual(replaced(before, await ids(world)), ["web-1"]);
    }));

  it("pause destroys nothing: what was killed of the release comes back", () =>
    inWorld("fake", async (world) => {
      await commit(world, files);
      await pollTo(world, "succeeded");
      world.fake?.stopContainer(`${world.stack}-web-1`);
      const before = await ids(world);
      await commit(world, {}, { pause: true, destroy: true });
      await pollTo(world, "skipped");
      assert.deepEqual(await states(world), { "web-1": "running" });
      assert.deepEqual(await ids(world), before);
    }));

  it("reference takes the stack from another branch or tag than the configuration", () =>
    inWorld("fake", async (world) => {
      const app = (text: string) => composeFile({ web: service({ labels: { "test.v": text } }) });
      await commit(world, { "compose.yaml": app("released") });
      await world.repository.tag("v1");
      await world.repository.branch("stable");
      await commit(world, { "compose.yaml": app("newest") }, { reference: "v1" });
      const finished = await pollTo(world, "succeeded");
      assert.equal(await label(world, "web", "test.v"), "released");
      assert.match(JSON.stringify(finished.deployments), /refs\/tags\/v1/);

      await commit(world, {}, { reference: "stable" });
      const before = await ids(world);
      await pollTo(world, "skipped");
      assert.deepEqual(await ids(world), before);

      await world.repository.branch("stable", "HEAD");
      await pollTo(world, "succeeded");
      assert.equal(await label(world, "web", "test.v"), "newest");
    }));

  it("a target reads its own configuration file and no other", () =>
    inWorld("fake", async (world) => {
      await world.repository.commit({
        ".stackwright.nas.yaml": configFile({ name: `${world.stack}-nas` }),
        ".stackwright.vps.yml": configFile({ name: `${world.stack}-vps` }),
        [CONFIG]: configFile({ name: world.stack }),
        ...files,
      });
      await pollTo(world, "succeeded", { target: "nas" });
      assert.equal((await world.containers(`${world.stack}-nas`)).length, 1);
      assert.equal((await world.containers()).length, 0);
      await pollTo(world, "succeeded", { target: "vps" });
      const target = await label(world, "web", "stackwright.target", `${world.stack}-vps`);
      assert.equal(target, "vps");
      await pollTo(world, "succeeded");
      assert.equal((await world.containers()).length, 1);
    }));

  it("working_dir is the base of relative paths, and a leading ./ or trailing / changes nothing", () =>
    inWorld("fake", async (world) => {
      await commit(world, {
        "apps/web/compose.yaml": composeFile({ web: service({ volumes: ["./page:/page:ro"] }) }),
        "apps/web/page/index.html": "one",
        "page/index.html": "never seen",
      }, { working_dir: "apps/web" });
      await pollTo(world, "succeeded");
      const before = await ids(world);
      await commit(world, {}, { working_dir: "./apps/web/" });
      await world.poll();
      assert.deepEqual(await ids(world), before);
      await commit(world, { "page/index.html": "still not" }, { working_dir: "apps/web" });
      await pollTo(world, "skipped");
      await commit(world, { "apps/web/page/index.html": "two" }, { working_dir: "apps/web" });
      await pollTo(world, "succeeded");
      assert.deepEqual(replaced(before, await ids(world)), ["web-1"]);
    }));
});
