import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import { isOurs } from "../../src/model/mod.ts";
import { startByHand } from "./by_hand.ts";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import {
  commit,
  docker,
  ids,
  inWorld,
  pollTo,
  readInside,
  reasons,
  states,
  writeInside,
} from "./steps.ts";
import { createRepository } from "../fakes/git_repository.ts";
import { freePort } from "../fakes/free_port.ts";
import { until } from "./until.ts";
import { engines, IMAGE, type World } from "./world.ts";

const COMPOSE = composeFile({
  other: service(),
  web: service({ volumes: ["./data:/data", "./state.db:/state.db", "./empty:/empty"] }),
});

/** A project that somebody started from a directory, in which its container wrote. */
async function withProject(
  world: World,
  test: (directory: string) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "swt-old-data-"));
  try {
    await mkdir(join(directory, "data/deep"), { recursive: true });
    await mkdir(join(directory, "empty"));
    await writeFile(join(directory, "state.db"), "state");
    await writeFile(join(directory, "data/deep/file"), "deep", { mode: 0o640 });
    await writeFile(join(directory, "data/seed"), "old seed");
    await startByHand(world, COMPOSE, { directory });
    await writeInside(world, "web", "/data/written", "precious");
    await test(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

for (const engine of await engines()) {
  describe(`data in relative mounts of a project that is adopted, on the ${engine} engine`, () => {
    it("comes along, stays where it was, and the plan and the run say so", () =>
      inWorld(engine, (world) =>
        withProject(world, async (directory) => {
          await commit(world, { "compose.yaml": COMPOSE, "data/seed": "new seed" });
          const { out, err } = await commandTo(world, 2, ["plan", world.repository.url]);
          assert.doesNotMatch(err, /has nothing at/);
          assert.ok(
            out.includes(`what ${directory}/data holds (mounted at /data) is copied to `),
            out,
          );
          const before = await ids(world);
          const finished = await pollTo(world, "succeeded");
          const why =
            /state\.db holds .* is copied to .*; files of the commit replace their copies/;
          assert.match(reasons(finished, "web"), why);
          assert.doesNotMatch(JSON.stringify(finished), /\/empty|orphans/);
          const said = world.lines.map(({ message }) => message);
          assert.deepEqual(said.filter((text) => /has nothing at/.test(text)), []);
          assert.notEqual((await ids(world))["web-1"], before["web-1"]);
          const inside = (path: string) => readInside(world, "web", path);
          assert.equal(await inside("/data/written"), "precious");
          assert.equal(await inside("/data/deep/file"), "deep");
          assert.equal(await inside("/data/seed"), "new seed");
          assert.equal(await inside("/state.db"), "state");
          const live = join(world.dataDir, "releases/default", world.stack, "live");
          assert.equal((await stat(join(live, "data/deep/file"))).mode & 0o777, 0o640);
          assert.equal(await readFile(join(directory, "data/seed"), "utf8"), "old seed");
          assert.equal(await readFile(join(directory, "data/written"), "utf8"), "precious");
          await pollTo(world, "skipped");
        })));

    it("comes along to a service whose container somebody had removed", () =>
      inWorld(engine, (world) =>
        withProject(world, async (directory) => {
          await docker(world, "rm", "-f", `${world.stack}-web-1`);
          await commit(world, { "compose.yaml": COMPOSE, "data/seed": "new seed" });
          const told =
            `what ${directory}/data holds (which no container mounts, for /data) is copied`;
          const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
          assert.ok(out.includes(told), out);
          const finished = await pollTo(world, "succeeded");
          assert.ok(reasons(finished, "web").includes(told), reasons(finished, "web"));
          assert.doesNotMatch(JSON.stringify(finished), /\/empty|begins empty/);
          assert.equal(await readInside(world, "web", "/data/written"), "precious");
          assert.equal(await readInside(world, "web", "/data/seed"), "new seed");
          assert.equal(await readInside(world, "web", "/state.db"), "state");
          await pollTo(world, "skipped");
        })));

    it("is told to be shared with a one-off of the stack itself that runs", () =>
      inWorld(engine, (world) =>
        withProject(world, async (directory) => {
          if (engine === "fake") return;
          const name = `${world.stack}-x`;
          const labels = ["project=" + world.stack, "service=web", "oneoff=True"]
            .flatMap((each) => ["--label", `com.docker.compose.${each}`]);
          const mount = ["-v", `${directory}/data:/data`];
          // As `docker compose run -d` does.
          await docker(
            world,
            "run",
            "-d",
            "--name",
            name,
            ...labels,
            ...mount,
            IMAGE,
            "sleep",
            "1000",
          );
          try {
            await commit(world, { "compose.yaml": COMPOSE });
            const { out, err } = await commandTo(world, 2, ["plan", world.repository.url]);
            const told = `also mounted by container ${name}: nothing is shared with the copy`;
            assert.ok(out.includes(told), out);
            assert.ok(
              err.includes(`${directory}/data is mounted by container ${name}, too: `),
              err,
            );
          } finally {
            await docker(world, "rm", "-f", name);
          }
        })));

    it("comes along to a service of another name, whose old self is stopped and kept", () =>
      inWorld(engine, (world) =>
        withProject(world, async (directory) => {
          const [web, renamed] = [await freePort(), service({ volumes: ["./data:/elsewhere"] })];
          const ports = [`127.0.0.1:${web}:80`];
          const old = service({ volumes: ["./data:/data"], ports });
          await startByHand(world, composeFile({ web: old }), { directory });
          await commit(world, { "compose.yaml": composeFile({ web2: { ...renamed, ports } }) });
          const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
          const copied = `what ${directory}/data holds (mounted at /data) is copied to `;
          assert.ok(out.includes(copied), out);
          const name = `${world.stack}-web-1`;
          assert.ok(out.includes(`container ${name} is stopped first, and stays so`), out);
          const { deployments: [ended] = [] } = await pollTo(world, "succeeded");
          assert.ok(ended?.message?.includes(`data; stop ${name}; adopted`), ended?.message);
          assert.equal(await readInside(world, "web2", "/elsewhere/written"), "precious");
          const after = await states(world);
          assert.deepEqual([after["web-1"], after["web2-1"]], ["exited", "running"]);
          assert.equal(await readFile(join(directory, "data/written"), "utf8"), "precious");
          await pollTo(world, "skipped");
          const changed = composeFile({ web2: { ...renamed, ports, environment: { A: "1" } } });
          await commit(world, { "compose.yaml": changed });
          await pollTo(world, "succeeded");
          assert.deepEqual(await states(world), { "web2-1": "running" });
          assert.equal(await readInside(world, "web2", "/elsewhere/written"), "precious");
        })));

    it("is told to be shared with who mounts a directory around it, and with single containers", () =>
      inWorld(engine, (world) =>
        withProject(world, async (directory) => {
          const other = `${world.stack}-other`;
          const text = composeFile({ web: service({ volumes: ["./data:/all"] }) });
          await startByHand(world, text, { directory, project: other });
          const inner = composeFile({ web: service({ volumes: ["./data/deep:/data"] }) });
          await startByHand(world, inner, { directory });
          await commit(world, { "compose.yaml": inner });
          const single = `${world.stack}-single`;
          if (engine === "real") {
            const mount = `${directory}/data/deep:/z:ro`;
            await docker(world, "create", "--name", single, "-v", mount, IMAGE, "true");
          }
          try {
            const { err } = await commandTo(world, 2, ["plan", world.repository.url]);
            const who = engine === "real" ? `container ${single}, ${other}` : other;
            assert.ok(err.includes(`${directory}/data/deep is mounted by ${who}, too: `), err);
          } finally {
            if (engine === "real") await docker(world, "rm", single);
          }
        })));

    // The rest is about us. Whose data it is follows from mounts as either engine lists them; the
    // copies are made by us.
    if (engine === "real") return;

    it("is told to be shared with other stacks, which get nothing of the copy", () =>
      inWorld(engine, (world) =>
        withProject(world, async (directory) => {
          const other = `${world.stack}-other`;
          const text = composeFile({ web: service({ volumes: ["./data/deep:/deep"] }) });
          await startByHand(world, text, { directory, project: other });
          await commit(world, { "compose.yaml": COMPOSE });
          const { out, err } = await commandTo(world, 2, ["plan", world.repository.url]);
          const told = `replace their copies; also mounted by ${other}: nothing is shared with`;
          assert.equal(out.split(told).length, 2, out);
          assert.ok(err.includes(`${directory}/data is mounted by ${other}, too: `), err);
        })));

    it("stays where it is, and the plan says so, where it is a file of the commit", () =>
      inWorld(engine, (world) =>
        withProject(world, async (directory) => {
          const [data, state] = [join(directory, "data"), join(directory, "state.db")];
          await commit(world, { "compose.yaml": COMPOSE, "state.db": "committed" });
          const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
          assert.ok(
            out.includes(
              `what ${state} holds (mounted at /state.db) stays there: the commit's version is used`,
            ),
            out,
          );
          const finished = await pollTo(world, "succeeded");
          const message = finished.deployments?.[0]?.message ?? "";
          assert.ok(message.includes(`; with the data in ${data};`), message);
          assert.equal(await readInside(world, "web", "/state.db"), "committed");
          assert.equal(await readFile(state, "utf8"), "state");
        })));

    it("that somebody else's containers wrote in between is never out of sight", () =>
      inWorld(engine, (world) =>
        withProject(world, async (directory) => {
          await commit(world, { "compose.yaml": COMPOSE });
          await pollTo(world, "succeeded");
          await startByHand(world, COMPOSE, { directory });
          await writeInside(world, "web", "/data/written", "newer");
          const before = await ids(world);
          const failed = JSON.stringify(await pollTo(world, "failed"));
          const live = join(world.dataDir, "releases/default", world.stack, "live");
          for (const path of ["data", "state.db"]) {
            const both = `in ${directory}/${path}, and that of before is in ${live}/${path}`;
            assert.ok(failed.includes(both), failed);
          }
          assert.deepEqual(await ids(world), before);
          for (const path of ["data", "state.db"]) await rm(join(live, path), { recursive: true });
          await pollTo(world, "succeeded");
          assert.equal(await readInside(world, "web", "/data/written"), "newer");
        })));

    it("that somebody removed below its container stops the adoption, until somebody brings it", () =>
      inWorld(engine, (world) =>
        withProject(world, async (directory) => {
          await commit(world, { "compose.yaml": COMPOSE });
          await rm(join(directory, "data"), { recursive: true });
          const before = await ids(world);
          world.proxy.reset();
          const failed = JSON.stringify(await pollTo(world, "failed"));
          assert.match(
            failed,
            /has its data \(mounted at \/data\) in \S+, which does not exist any/,
          );
          assert.doesNotMatch(failed, /cp -a/);
          assert.equal(world.proxy.mutations(), 0);
          assert.deepEqual(await ids(world), before);
          const live = join(world.dataDir, "releases/default", world.stack, "live");
          await mkdir(join(live, "data"), { recursive: true });
          await writeFile(join(live, "data/written"), "brought by hand");
          await pollTo(world, "succeeded");
          assert.equal(await readInside(world, "web", "/data/written"), "brought by hand");
          assert.equal(await readInside(world, "web", "/state.db"), "state");
        })));
  });
}

describe("data in relative mounts of a project that is adopted", () => {
  for (const part of [".", "..", "sources", "state.db", "/proc/1"]) {
    it(`is not copied where it holds data of Stackwright itself: ${part}`, () =>
      inWorld("fake", async (world) => {
        const mine = resolve(world.dataDir, part);
        await startByHand(world, composeFile({ web: service({ volumes: [`${mine}:/data:ro`] }) }));
        await commit(world, {
          "compose.yaml": composeFile({ web: service({ volumes: ["./x:/data"] }) }),
        });
        const failed = JSON.stringify(await pollTo(world, "failed"));
        assert.match(failed, /mounts .* at \/data, which holds data of Stackwright itself/);
        assert.deepEqual(await states(world), { "web-1": "running" });
      }));
  }

  it("that cannot be copied leaves the project as it runs", () =>
    inWorld("fake", (world) =>
      withProject(world, async () => {
        await commit(world, { "compose.yaml": COMPOSE });
        const before = await ids(world);
        // There is no room for the copy: something else has its place.
        const live = join(world.dataDir, "releases/default", world.stack, "live");
        await mkdir(join(live, ".."), { recursive: true });
        await writeFile(live, "");
        world.proxy.reset();
        const failed = JSON.stringify(await pollTo(world, "failed"));
        assert.match(failed, /could not be copied to .*nothing was replaced/);
        assert.equal(world.proxy.mutations(), 0);
        assert.deepEqual(await ids(world), before);
        assert.deepEqual(await states(world), { "other-1": "running", "web-1": "running" });
        await rm(live);
        await pollTo(world, "succeeded");
        assert.equal(await readInside(world, "web", "/data/written"), "precious");
      })));

  const halfWays = {
    "failed": { kind: "error" },
    "was cut off": { kind: "timeout" },
    "was cut off, and its stack was handed over": { kind: "timeout", handsOver: true },
  } as const;
  for (const [what, how] of Object.entries(halfWays)) {
    const { kind } = how;
    it(`is copied anew when the project ran on after an attempt that ${what} half-way`, () =>
      inWorld("fake", async (world) => {
        const directory = await mkdtemp(join(tmpdir(), "swt-old-data-"));
        try {
          const compose = composeFile({
            other: service({ volumes: ["./second:/second"] }),
            web: service({ volumes: ["./first:/first"] }),
          });
          for (const name of ["first", "second"]) {
            await mkdir(join(directory, name));
            await writeFile(join(directory, name, "file"), "early");
          }
          await startByHand(world, compose, { directory });
          await commit(world, { "compose.yaml": compose });
          // The first service is stopped and its data copied; then the second cannot be stopped.
          world.proxy.reset({ kind, at: 2, among: "mutating" });
          if (kind === "error") await pollTo(world, "failed");
          else {
            const run = world.poll().catch(() => {});
            const live = join(world.dataDir, "releases/default", world.stack, "live");
            const isCopied = (name: string) => existsSync(join(live, name, "file"));
            await until(() => isCopied("first") || isCopied("second"));
            await world.stop();
            await run;
          }
          for (const name of ["first", "second"]) {
            await writeFile(join(directory, name, "file"), "late");
          }
          world.proxy.reset();
          if (kind === "error") await pollTo(world, "succeeded");
          else if ("handsOver" in how) {
            const other = await createRepository(join(directory, "git"));
            await commandTo(world, 0, ["adopt", world.stack, "--source", other.url]);
            await other.commit({
              ".stackwright.yaml": `name: ${world.stack}\n`,
              "compose.yaml": compose,
            });
            await world.restart();
            await pollTo(world, "succeeded", { url: other.url });
          } else {
            await world.restart();
            await until(async () => (await world.containers()).every(isOurs));
          }
          assert.equal(await readInside(world, "web", "/first/file"), "late");
          assert.equal(await readInside(world, "other", "/second/file"), "late");
        } finally {
          await rm(directory, { recursive: true });
        }
      }));
  }
});
