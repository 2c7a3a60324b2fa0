import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LedgerDatabase } from "../../src/record/ledger_database.ts";
import { isSample } from "../fakes/sample.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import { commit, ids, inWorld, pollTo } from "./steps.ts";
import { createWorld, engines, type World } from "./world.ts";

const COMPOSE = composeFile({
  web: service({
    volumes: ["./page.txt:/page.txt:ro", "./data:/data"],
    configs: [{ source: "main", target: "/main.conf" }],
    restart: "always",
  }),
  worker: service({ deploy: { replicas: 2 }, environment: { A: "$A" } }),
  migrate: service({ command: ["true"] }),
  off: service({ scale: 0 }),
}, { configs: { main: { file: "./main.conf" } } });

/**
 * One of a thousand looks: mostly a poll, at times after a restart of the service or after a commit
 * that does not concern the stack.
 */
async function look(world: World, pass: number): Promise<void> {
  if (pass % 100 === 50) await world.restart();
  if (pass % 20 === 10) await world.repository.commit({ "unrelated.txt": `${pass}` });
  const finished = await pollTo(world, "skipped");
  assert.equal(finished.deployments?.[0]?.reason, "no_changes", JSON.stringify(finished));
}

for (const engine of await engines()) {
  // ./scripts/test has ten minutes; the gate looks as often as the test says.
  // Compose and the engine are not even asked to change anything, so that the real one shows no more.
  const passes = engine === "fake" ? (isSample ? 60 : 1000) : 100;
  describe(`a converged host on the ${engine} engine`, () => {
    it(`is left alone by ${passes} more looks, by polls, restarts and unrelated commits`, () =>
      inWorld(engine, async (world) => {
        world.fake?.setBehaviour("migrate", { exit: 0, afterMs: 0 });
        await commit(world, {
          "compose.yaml": COMPOSE,
          ".env": "A=1\n",
          "page.txt": "page",
          "main.conf": "main",
          "data/seed.txt": "seed",
        });
        await pollTo(world, "succeeded");
        await pollTo(world, "skipped");
        const made = await ids(world);
        assert.equal(Object.keys(made).length, 4);
        world.proxy.reset();
        for (let pass = 1; pass <= passes; pass++) await look(world, pass);
        assert.equal(world.proxy.mutations(), 0);
        assert.deepEqual(await ids(world), made);
      }));
  });
}

/** Most reads of the ledger for one stack that is as it is wanted, and those of its owner among them. */
const [MOST_READS, MOST_OF_OWNERS] = [47, 16];

/** Reads of a ledger about the stack of a name during `work`, by what is read. */
async function readsAbout(stack: string, work: () => Promise<unknown>): Promise<string[]> {
  const { all } = LedgerDatabase.prototype;
  const reads: string[] = [];
  LedgerDatabase.prototype.all = function (sql, ...values) {
    if (values.some((each) => each === stack || (each as { name?: string })?.name === stack)) {
      reads.push(/FROM (\w+)/.exec(sql)?.[1] ?? sql);
    }
    return all.call(this, sql, ...values);
  };
  try {
    await work();
  } finally {
    LedgerDatabase.prototype.all = all;
  }
  return reads;
}

describe("a poll of several stacks that finds nothing new", () => {
  it("reads the ledger few times for each of them: what was just asked is handed on", async () => {
    // A clock that is not hurried: others' hand-overs are looked for once in a second.
    const world = await createWorld({ engine: "fake", speed: 1 });
    try {
      const names = ["a", "b", "c", "d", "e"].map((each) => `${world.stack}-${each}`);
      await world.repository.commit({
        ".stackwright.yaml": configFile(...names.map((name) => ({ name, working_dir: name }))),
        ...Object.fromEntries(
          names.map((name) => [`${name}/compose.yaml`, composeFile({ web: service() })]),
        ),
      });
      await pollTo(world, "succeeded");
      await pollTo(world, "skipped");
      const [name = ""] = names;
      const reads = await readsAbout(name, () => pollTo(world, "skipped"));
      const [counts, told] = [Map.groupBy(reads, (each) => each), reads.sort().join(" ")];
      // Each look that waits of its own asks whose the stack is, and a mark of the stack is six reads.
      assert.ok((counts.get("owners")?.length ?? 0) <= MOST_OF_OWNERS, told);
      assert.ok(reads.length <= MOST_READS, `${reads.length} reads: ${told}`);
      assert.ok(reads.length > 0);
    } finally {
      await world.close();
    }
  });
});
