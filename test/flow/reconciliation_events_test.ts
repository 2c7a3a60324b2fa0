import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import process from "node:process";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { composeFile, configFile, service } from "./compose_text.ts";
import { createOwnEngine, whyNoOwnEngine } from "../fakes/own_engine.ts";
import { commit, docker, ids, inWorld, pollTo, states } from "./steps.ts";
import { createWorld, engines, IMAGE, type World } from "./world.ts";

const run = promisify(execFile);

/** What happens to the container of a stack that names one event, and what is done about that. */
interface Row {
  readonly event: string;
  /** What somebody asks `docker` for; `NAME` is the container. */
  readonly cause: readonly string[];
  readonly done: RegExp;
  /** Whether another container stands in its place. */
  readonly replaced: boolean;
}

const HEALTH = { test: ["CMD", "test", "!", "-e", "/sick"], interval: "500ms", retries: 3 };
const ROWS: readonly Row[] = [
  { event: "die", cause: ["kill", "NAME"], done: /start web$/, replaced: false },
  { event: "stop", cause: ["stop", "NAME"], done: /start web$/, replaced: false },
  { event: "kill", cause: ["kill", "NAME"], done: /start web$/, replaced: false },
  { event: "destroy", cause: ["rm", "--force", "NAME"], done: /create web$/, replaced: true },
  {
    event: "update",
    cause: ["update", "--memory", "24m", "NAME"],
    done: /recreate web$/,
    replaced: true,
  },
  {
    event: "unhealthy",
    cause: ["exec", "NAME", "touch", "/sick"],
    done: /^container \S+ is unhealthy$/,
    replaced: false,
  },
  {
    event: "oom",
    // By a process beside its first one: the container lives.
    cause: ["exec", "NAME", "sh", "-c", "tail /dev/zero || true"],
    done: /^container \S+ had no memory left$/,
    replaced: false,
  },
];

const web = service({ network_mode: "none", mem_limit: "32m", memswap_limit: "32m" });
/**
 * A container that is sick until it is started again. No other row has a check: one that runs while
 * there is no memory is a further reason for the engine to tell of that, once more and later.
 */
const checked = {
  ...web,
  command: ["sh", "-c", "rm -f /sick; exec sleep 100000"],
  healthcheck: HEALTH,
};

interface Decision {
  readonly trigger: string;
  readonly message: string;
  readonly times: number;
  readonly outcome?: { readonly status: string };
}

async function mended(world: World, stack: string): Promise<readonly Decision[]> {
  const answer = await world.request(`/v1/api/deployment/${stack}`);
  const { decisions } = (await answer.json()).content;
  return decisions.filter((each: Decision) => each.trigger === "reconciliation");
}

/** The rows without `oom`, where the engine of this machine does not tell of it. */
async function withoutUnheard(world: World, nameOf: (row: Row) => string): Promise<readonly Row[]> {
  const starved = ROWS.find((each) => each.event === "oom");
  if (starved === undefined) return ROWS;
  const name = `${nameOf(starved)}-web-1`;
  const until = String(Math.ceil(Date.now() / 1000) + 2);
  const filters = ["--filter", `container=${name}`, "--filter", "event=oom"];
  const told = await docker(world, "events", "--since", "1h", "--until", until, ...filters);
  if (told !== "") return ROWS;
  process.stderr.write("\n*** THE ENGINE TELLS OF NO OOM, THAT ROW IS SKIPPED ***\n");
  return ROWS.filter((each) => each !== starved);
}

const kinds = (await engines()).filter((each) => each === "real");

describe("each event of a container, on the real engine", {
  skip: kinds.length === 0 ? "NO REAL ENGINE, or only the fake one was asked for" : false,
}, () => {
  it("leads to exactly its action, once, where its configuration names it", () =>
    inWorld("real", async (world) => {
      const nameOf = ({ event }: Row) => `${world.stack}-${event}`;
      await world.repository.commit({
        ".stackwright.yaml": configFile(
          ...ROWS.map((row) => ({
            name: nameOf(row),
            compose_files: [row.event === "unhealthy" ? "checked.yaml" : "compose.yaml"],
            reconciliation: { events: [row.event] },
          })),
        ),
        "checked.yaml": composeFile({ web: checked }),
        "compose.yaml": composeFile({ web }),
      });
      await pollTo(world, "succeeded");
      const idOf = async (row: Row) => (await world.containers(nameOf(row)))[0]?.id;
      const before = await Promise.all(ROWS.map(idOf));
      await Promise.all(
        ROWS.map((row) =>
          docker(world, ...row.cause.map((each) => each.replace("NAME", `${nameOf(row)}-web-1`)))
        ),
      );
      const isOver = async (row: Row) => (await mended(world, nameOf(row)))[0]?.outcome;
      const rows = await withoutUnheard(world, nameOf);
      for (const row of rows) while (await isOver(row) === undefined) await pause(20);
      // What follows from what was done is heard and looked at meanwhile.
      await world.clock.sleep(2_000, new AbortController().signal);
      for (const [index, row] of ROWS.entries()) {
        if (!rows.includes(row)) continue;
        const [only, ...more] = await mended(world, nameOf(row));
        assert.match(only?.message ?? "", row.done);
        assert.deepEqual([only?.times, only?.outcome?.status, more], [1, "succeeded", []]);
        assert.equal(await idOf(row) !== before[index], row.replaced, row.event);
        const [container] = await world.containers(nameOf(row));
        assert.equal(container?.state, "running", row.event);
      }
    }));
});

const noEngine = kinds.length === 0 ? "NO REAL ENGINE" : whyNoOwnEngine();
if (noEngine !== undefined && kinds.length > 0) process.stderr.write(`\n*** ${noEngine} ***\n`);

describe("an engine that is stopped and started again", { skip: noEngine ?? false }, () => {
  it("is survived: what it does not start by itself is started", async () => {
    const engine = await createOwnEngine();
    try {
      const world = await createWorld({ engine: "real", socketPath: engine.socketPath });
      try {
        const image = `${world.dataDir}/image.tar`;
        await run("docker", ["save", "--output", image, IMAGE]);
        await docker(world, "load", "--input", image);
        const alone = service({ network_mode: "none" });
        await commit(world, {
          "compose.yaml": composeFile({ db: { ...alone, restart: "always" }, web: alone }),
        }, { reconciliation: { events: ["die"] } });
        await pollTo(world, "succeeded");
        const before = await ids(world);
        await engine.restart();
        const isUp = async () =>
          Object.values(await states(world)).every((each) => each === "running");
        while (!await isUp()) await pause(50);
        assert.deepEqual(await ids(world), before);
      } finally {
        await world.close();
      }
    } finally {
      await engine.close();
    }
  });
});
