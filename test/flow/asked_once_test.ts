/** How often an engine is asked whose the volumes and networks of a release are, and where they lead. */
import assert from "node:assert/strict";
import { rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";
import { commit, docker, inWorld, pollTo, states } from "./steps.ts";
import { until } from "./until.ts";
import type { World } from "./world.ts";

function job(mode: string): Part {
  const labels = {
    "stackwright.job.enabled": "true",
    "stackwright.job.schedule": "0 0 1 1 *",
    "stackwright.job.execution_mode": mode,
  };
  return service({ command: ["true"], labels, volumes: ["vol:/vol"] });
}

const shop = (text: string) => ({
  "compose.yaml": composeFile({
    web: service({ environment: { TEXT: text }, volumes: ["vol:/vol"] }),
    once: job("one_off"),
    again: job("restart"),
  }, { volumes: { vol: {} } }),
});
/** Looks for drift would ask, too, at any time. */
const QUIET = { reconciliation: { enabled: false } };

/** Times that the engine was asked for volumes and networks by their names since the last reset. */
function asked({ proxy }: World) {
  const named = proxy.calls.map(({ path }) => decodeURIComponent(path))
    .filter((path) => path.includes('"name"'));
  const of = (kind: string) => named.filter((path) => path.startsWith(`/${kind}?`)).length;
  return { volumes: of("volumes"), networks: of("networks") };
}

describe("an engine is asked about the mounts of a stack's containers", () => {
  for (const stacks of [1, 4]) {
    it(`by lists alone, where a poll finds ${stacks} stacks: no call for each container`, () =>
      inWorld("fake", async (world) => {
        const shops = Array.from({ length: stacks }, (_, at) => `${world.stack}-${at}`);
        const parts = Object.fromEntries(
          ["a", "b", "c", "d"].map((name) => [name, service({ volumes: ["./data:/data"] })]),
        );
        const files = (text: string) => ({
          ".stackwright.yaml": configFile(
            ...shops.map((name) => ({ name, working_dir: name, ...QUIET })),
          ),
          ...Object.fromEntries(shops.map((name, at) => [
            `${name}/compose.yaml`,
            composeFile({
              ...parts,
              web: service({ environment: { TEXT: at === 0 ? text : "" }, volumes: ["./d:/d"] }),
            }),
          ])),
        });
        await world.repository.commit(files("1"));
        await pollTo(world, "succeeded");
        const kept = (await world.containers(shops[0])).filter((each) => each.service !== "web");
        assert.equal(kept.length, 4);
        await world.repository.commit(files("2"));
        world.proxy.reset();
        await pollTo(world, "succeeded");
        const inspected = world.proxy.calls.filter(({ method, path }) =>
          method === "GET" && kept.some(({ id }) => path.includes(`/containers/${id}/json`))
        );
        assert.deepEqual(inspected, []);
      }));
  }
});

/** What an engine was asked since the last reset that has nothing to do with a stack's containers. */
function askedBeside({ proxy }: World) {
  const paths = proxy.calls.filter(({ method }) => method === "GET")
    .map(({ path }) => decodeURIComponent(path).replace(/^\/v[\d.]+/, ""));
  const of = (pattern: RegExp) => paths.filter((path) => pattern.test(path)).length;
  return {
    containers: of(/^\/containers\/json[?]all=true$/),
    images: of(/^\/images\/json/),
    image: of(/^\/images\/.+\/json/),
    volumes: of(/^\/volumes/),
  };
}

describe("an engine is asked for what is not the stack's", () => {
  const web = (text: string, ports: readonly string[] = []) => ({
    "compose.yaml": composeFile({ web: service({ environment: { TEXT: text }, ports }) }),
  });

  it("no list at all by a change of a service without volumes and ports, and its image for each use", () =>
    inWorld("fake", async (world) => {
      await commit(world, web("1"), QUIET);
      await pollTo(world, "succeeded");
      world.proxy.reset();
      await commit(world, web("2"), QUIET);
      await pollTo(world, "succeeded");
      assert.deepEqual(askedBeside(world), { containers: 0, images: 0, image: 4, volumes: 0 });
    }));

  it("all containers where a port is needed, or a name that the stack has not", () =>
    inWorld("fake", async (world) => {
      await commit(world, web("1"), QUIET);
      world.proxy.reset();
      await pollTo(world, "succeeded");
      assert.equal(askedBeside(world).containers, 1);
      await commit(world, web("1", ["18080:80"]), QUIET);
      world.proxy.reset();
      await pollTo(world, "succeeded");
      assert.equal(askedBeside(world).containers, 1);
    }));
});

describe("an engine is asked about volumes and networks", () => {
  it("before a job's container is made, and before it starts", () =>
    inWorld("fake", async (world) => {
      for (const name of ["once", "again"]) world.fake?.setBehaviour(name, { exit: 0 });
      await commit(world, shop("1"), QUIET);
      await pollTo(world, "succeeded");
      const run = async (name: string) => {
        world.proxy.reset();
        const path = `/v1/api/job/${world.stack}-${name}-1/run`;
        const { status } = await world.request(path, { method: "POST" });
        assert.equal(status, 200);
        return asked(world);
      };
      // Volumes once more: for where the mounts of the container itself lead.
      // The look at the making of its container counts, too.
      assert.deepEqual(await run("once"), { volumes: 4, networks: 2 });
      assert.deepEqual(await run("again"), { volumes: 2, networks: 1 });
    }));

  it("before a job's image is pulled, which a refused release gets no more", () =>
    inWorld("fake", async (world) => {
      const place = join(dirname(world.dataDir), "place");
      await symlink(dirname(place), place);
      const image = `${world.stack}-image:1`;
      world.fake?.addImage(image, { where: "both" });
      world.fake?.setBehaviour("once", { exit: 0 });
      const once = { ...job("one_off"), image, volumes: [`${place}/some:/some`] };
      await commit(world, { "compose.yaml": composeFile({ once }) }, QUIET);
      await pollTo(world, "succeeded");
      const run = async () => {
        await docker(world, "rmi", "--force", image);
        world.proxy.reset();
        const path = `/v1/api/job/${world.stack}-once-1/run`;
        const answer = await world.request(path, { method: "POST" });
        return { text: await answer.text(), pulls: world.proxy.pulls() };
      };
      assert.equal((await run()).pulls, 1);
      await rm(place);
      await symlink(world.dataDir, place);
      const { text, pulls } = await run();
      assert.match(text, /mounts data or secrets of Stackwright itself/);
      assert.equal(pulls, 0);
    }));

  it("by a deployment for the plan, for the release before, for what is missing, and at last", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"), QUIET);
      await pollTo(world, "succeeded");
      await commit(world, shop("2"), QUIET);
      world.proxy.reset();
      await pollTo(world, "succeeded");
      // Volumes twice more: when the model is rendered, and for the mounts of the container itself.
      assert.deepEqual(asked(world), { volumes: 7, networks: 4 });
    }));

  it("by a repair for the release, which is the one before, too, for what is missing, and at last", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"), { reconciliation: { events: ["destroy"] } });
      await pollTo(world, "succeeded");
      world.proxy.reset();
      await docker(world, "rm", "--force", `${world.stack}-web-1`);
      await until(async () => (await states(world))["web-1"] === "running");
      assert.equal(asked(world).networks, 3);
    }));
});
