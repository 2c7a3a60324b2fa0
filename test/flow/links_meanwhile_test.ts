/** Links that a container puts in the place of a mount after a release was judged. */
import assert from "node:assert/strict";
import { mkdir, rm, symlink } from "node:fs/promises";
import net from "node:net";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { writeContext } from "../fakes/context_files.ts";
import { badService } from "./bad_service.ts";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";
import { commit, inWorld, pollTo } from "./steps.ts";
import { until } from "./until.ts";
import { createWorld, type World } from "./world.ts";

/** A stack that shares a directory of its own by a volume, and another one that may mount that. */
interface Neighbours {
  readonly world: World;
  readonly other: string;
  /** Deploys the other stack; returns what the run tells. */
  deploy(services: Readonly<Record<string, Part>>, rest?: Part, settings?: Part): Promise<string>;
  /** Puts a link to the data directory where the volume leads, and where `./data/sub` is. */
  putLinks(): Promise<void>;
  /** Calls `act` after the next change of the engine for which it returns true. */
  afterChange(act: () => boolean): void;
}

async function inNeighbours(test: (neighbours: Neighbours) => Promise<void>): Promise<void> {
  let onMutation: () => void | Promise<void> = () => {};
  const world = await createWorld({ engine: "fake", onMutation: () => onMutation() });
  const other = `${world.stack}b`;
  const owner = {
    "a/compose.yaml": composeFile({
      w: service({ volumes: ["./all:/all", "vv:/unused:ro"] }),
    }, {
      volumes: {
        vv: {
          name: `${world.stack}-vv`,
          driver: "local",
          driver_opts: { type: "none", o: "bind", device: "./all/x" },
        },
      },
    }),
    "a/all/x/.keep": "",
  };
  const live = (stack: string, ...path: string[]) =>
    join(world.dataDir, "releases/default", stack, "live", ...path);
  const link = async (path: string) => {
    await rm(path, { recursive: true, force: true });
    await mkdir(join(path, ".."), { recursive: true });
    await symlink(world.dataDir, path);
  };
  const putLinks = async () => {
    await link(live(world.stack, "a/all/x"));
    await link(live(other, "b/data/sub"));
  };
  try {
    await world.repository.commit({
      ".stackwright.yaml": configFile({ name: world.stack, working_dir: "a" }),
      ...owner,
    });
    const { run } = await world.poll();
    assert.equal(run.status, "succeeded", JSON.stringify(run));
    await test({
      world,
      other,
      async deploy(services, rest = {}, settings = {}) {
        await world.repository.commit({
          ".stackwright.yaml": configFile({ name: other, working_dir: "b", ...settings }),
          "b/compose.yaml": composeFile(services, rest),
        });
        return JSON.stringify((await world.poll()).run);
      },
      putLinks,
      afterChange(act) {
        onMutation = () => {
          if (!act()) return;
          onMutation = () => {};
          return putLinks();
        };
      },
    });
  } finally {
    await world.close();
  }
}

const VOLUME = (world: World) => ({
  volumes: { vv: { external: true, name: `${world.stack}-vv` } },
});

describe("a link that a container puts in the place of a mount once the release was judged", () => {
  it("is not followed when the release before a failed one is put back", () =>
    inNeighbours(async ({ world, other, deploy, afterChange }) => {
      const web = service({ volumes: ["vv:/s"] });
      assert.match(await deploy({ web }, VOLUME(world)), /"succeeded"/);
      const bad = badService(world);
      afterChange(() =>
        world.fake?.containers().some((each) => each.image === bad["image"]) === true
      );
      const text = await deploy({ web: bad });
      assert.match(text, /putting .* back failed too: .*mounts data or secrets/);
      const mounted = (await world.containers(other)).map(({ id }) => id);
      const led = world.fake?.containers().filter(({ id, volumes }) =>
        mounted.includes(id) && volumes.length > 0
      );
      assert.deepEqual(led, []);
    }));

  it("is not followed by the containers of a new release, by a volume or by its own files", () =>
    inNeighbours(async ({ world, other, deploy, afterChange }) => {
      const made = () =>
        world.fake?.networks().some(({ name }) => name === `${other}_default`) === true;
      for (
        const [volume, rest, refusal] of [
          ["vv:/s", VOLUME(world), /mounts data or secrets/],
          ["./data/sub:/sub", {}, /leads out of the stack's live files/],
        ] as const
      ) {
        afterChange(made);
        assert.match(await deploy({ web: service({ volumes: [volume] }) }, rest), refusal);
        assert.deepEqual(await world.containers(other), []);
        await rm(join(world.dataDir, "releases/default", other, "live/b/data"), {
          recursive: true,
        });
        await rm(join(world.dataDir, "releases/default", world.stack, "live/a/all/x"));
        await mkdir(join(world.dataDir, "releases/default", world.stack, "live/a/all/x"));
        await world.engine.removeNetwork(`${other}_default`, new AbortController().signal);
      }
    }));
});

describe("an engine of this machine that a context leads to by TCP", () => {
  it("mounts no data of ours either, where a link leads to it by another stack's volume", () =>
    inNeighbours(async ({ world, other, deploy, putLinks }) => {
      const socket = (world.env["DOCKER_HOST"] ?? "").replace("unix://", "");
      const forward = net.createServer((client) => {
        const engine = net.connect(socket);
        engine.on("error", () => client.destroy());
        client.on("error", () => engine.destroy());
        client.pipe(engine).pipe(client);
      });
      await new Promise<void>((resolve) => forward.listen(0, "127.0.0.1", resolve));
      const { port } = forward.address() as net.AddressInfo;
      writeContext(world.env["DOCKER_CONFIG"] ?? "", "far", { host: `tcp://127.0.0.1:${port}` });
      try {
        await putLinks();
        const web = service({ volumes: ["vv:/s"] });
        const text = await deploy({ web }, VOLUME(world), { context: "far" });
        assert.match(text, /"context":"far".*mounts data or secrets/);
        assert.deepEqual(await world.containers(other), []);
      } finally {
        forward.close();
      }
    }));
});

describe("a link that a container has put in the place of a mount", () => {
  const healthcheck = { test: ["CMD", "true"], interval: "500ms" };

  it("is not followed by a restart of what is unhealthy, nor by one that a person asks for", () =>
    inWorld("fake", async (world) => {
      const web = service({ volumes: ["./data:/data", "./data/sub:/sub"], healthcheck });
      const reconciliation = { restart_timeout: 0 };
      await commit(world, { "compose.yaml": composeFile({ web }) }, { reconciliation });
      await pollTo(world, "succeeded");
      const sub = join(world.dataDir, "releases/default", world.stack, "live/data/sub");
      await rm(sub, { recursive: true });
      await symlink(world.dataDir, sub);
      world.proxy.reset();

      const refused = /container \S+-web-1 was not restarted: .*data\/sub leads out of/;
      world.fake?.setHealth(`${world.stack}-web-1`, "unhealthy");
      await until(() => Promise.resolve(world.lines.some((line) => refused.test(line.message))));

      const project = async (action: string) => {
        const path = `/v1/api/project/${world.stack}/${action}`;
        const answer = await world.request(path, { method: "POST" });
        return `${answer.status} ${await answer.text()}`;
      };
      assert.match(await project("restart"), /^500 .*data\/sub leads out of/);
      assert.match(await project("stop"), /^200/);
      assert.match(await project("start"), /^500 .*data\/sub leads out of/);
      const started = world.proxy.calls.filter(({ path }) => /\/(?:re)?start(?:\?|$)/.test(path));
      assert.deepEqual(started, []);
    }));

  it("is not followed below a path of the host either", () =>
    inWorld("fake", async (world) => {
      const shared = join(dirname(world.dataDir), "shared");
      await mkdir(join(shared, "sub"), { recursive: true });
      const web = service({ volumes: [`${shared}:/s`, `${shared}/sub:/v`], healthcheck });
      const reconciliation = { restart_timeout: 0 };
      await commit(world, { "compose.yaml": composeFile({ web }) }, { reconciliation });
      await pollTo(world, "succeeded");
      await rm(join(shared, "sub"), { recursive: true });
      await symlink(world.dataDir, join(shared, "sub"));
      world.proxy.reset();

      const refused = /container \S+-web-1 was not restarted: .*mounts data or secrets/;
      world.fake?.setHealth(`${world.stack}-web-1`, "unhealthy");
      await until(() => Promise.resolve(world.lines.some((line) => refused.test(line.message))));
      const path = `/v1/api/project/${world.stack}/restart`;
      const answer = await world.request(path, { method: "POST" });
      assert.match(await answer.text(), /mounts data or secrets/);
      const started = world.proxy.calls.filter(({ path }) => /\/(?:re)?start(?:\?|$)/.test(path));
      assert.deepEqual(started, []);
    }));
});
