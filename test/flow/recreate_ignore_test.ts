import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeFile, service } from "./compose_text.ts";
import { actions, commit, docker, ids, inWorld, pollTo, readInside, reasons } from "./steps.ts";
import { engines, type World } from "./world.ts";

const IGNORE = "stackwright.deployment.recreate.ignore";

/** Counts the signals it gets in `/told`. */
const LISTENS = [
  "sh",
  "-c",
  'trap "echo told >> /told" HUP; : > /told; while :; do sleep 0.1; done',
];

function compose(signal?: string): string {
  return composeFile({
    web: service({
      command: LISTENS,
      configs: [{ source: "app", target: "/app.conf" }],
      volumes: ["./rules:/rules:ro", "./fixed.txt:/fixed.txt:ro"],
      labels: {
        [IGNORE]: "{configs: [app], bindMounts: [/rules]}",
        ...(signal === undefined ? {} : { [`${IGNORE}.signal`]: signal }),
      },
    }),
  }, { configs: { app: { file: "./app.conf" } } });
}

const FILES = {
  "app.conf": "one",
  "rules/a.rule": "a",
  "rules/b.rule": "b",
  "fixed.txt": "fixed",
};

/** Signals that reached the service: as its process counts them, else as the engine was asked for. */
async function signals(world: World): Promise<number> {
  if (world.kind === "fake") {
    return world.proxy.calls.filter((each) => each.path.includes("/kill?")).length;
  }
  // The trap runs when the shell's current sleep ends.
  await new Promise((done) => setTimeout(done, 500));
  const [id] = Object.values(await ids(world));
  const told = await docker(world, "exec", id ?? "", "cat", "/told");
  return told.split("\n").filter((each) => each === "told").length;
}

for (const engine of await engines()) {
  describe(`recreate.ignore on the ${engine} engine`, () => {
    it("changes files in place, keeps the container and tells it by the signal", () =>
      inWorld(engine, async (world) => {
        await commit(world, { "compose.yaml": compose("SIGHUP"), ...FILES });
        await pollTo(world, "succeeded");
        const before = await ids(world);
        await commit(world, { "app.conf": "two", "rules/a.rule": "A", "rules/c.rule": "c" });
        const finished = await pollTo(world, "succeeded");
        assert.deepEqual(actions(finished), { web: "reload" });
        assert.match(reasons(finished, "web"), /app\.conf changed; .*SIGHUP is sent/);
        assert.deepEqual(await ids(world), before);
        assert.equal(await readInside(world, "web", "/app.conf"), "two");
        assert.equal(await readInside(world, "web", "/rules/a.rule"), "A");
        assert.equal(await readInside(world, "web", "/rules/c.rule"), "c");
        assert.equal(await signals(world), 1);
        const again = await pollTo(world, "skipped");
        assert.deepEqual(actions(again), { web: "keep" });
        assert.equal(await signals(world), 1);
      }));

    it("without a signal touches no container at all", () =>
      inWorld(engine, async (world) => {
        await commit(world, { "compose.yaml": compose(), ...FILES });
        await pollTo(world, "succeeded");
        const before = await ids(world);
        const mutations = world.proxy.mutations();
        await commit(world, { "app.conf": "two" });
        assert.deepEqual(actions(await pollTo(world, "succeeded")), { web: "reload" });
        assert.equal(await readInside(world, "web", "/app.conf"), "two");
        assert.equal(world.proxy.mutations(), mutations);
        assert.deepEqual(await ids(world), before);
      }));

    // The rest is about us. When a file is changed in place is decided by us; how that is done and told
    // is above.
    if (engine === "real") return;

    it("replaces the container, without a signal, when something else changed too", () =>
      inWorld(engine, async (world) => {
        await commit(world, { "compose.yaml": compose("SIGHUP"), ...FILES });
        await pollTo(world, "succeeded");
        const before = await ids(world);
        await commit(world, { "app.conf": "two", "fixed.txt": "other" });
        assert.deepEqual(actions(await pollTo(world, "succeeded")), { web: "recreate" });
        assert.notDeepEqual(await ids(world), before);
        assert.equal(await readInside(world, "web", "/app.conf"), "two");
        assert.equal(await readInside(world, "web", "/fixed.txt"), "other");
      }));

    it("puts the files back, and tells so, when the release fails elsewhere", () =>
      inWorld(engine, async (world) => {
        await commit(world, { "compose.yaml": compose("SIGHUP"), ...FILES });
        await pollTo(world, "succeeded");
        const before = await ids(world);
        const broken = JSON.parse(compose("SIGHUP"));
        broken.services.bad = service({ command: ["sh", "-c", "exit 3"], restart: "always" });
        world.fake?.setBehaviour("bad", { exit: 3, afterMs: 0 });
        await commit(world, { "compose.yaml": JSON.stringify(broken), "app.conf": "two" });
        await pollTo(world, "failed");
        assert.deepEqual(await ids(world), before);
        assert.equal(await readInside(world, "web", "/app.conf"), "one");
        assert.equal(await signals(world), 2);
      }));

    it("refuses a label that names nothing, before anything is touched", () =>
      inWorld(engine, async (world) => {
        await commit(world, { "compose.yaml": compose("SIGHUP"), ...FILES });
        await pollTo(world, "succeeded");
        const mutations = world.proxy.mutations();
        const wrong = compose("SIGHUP").replace("configs: [app]", "configs: [ap]");
        await commit(world, { "compose.yaml": wrong });
        const finished = await pollTo(world, "failed");
        assert.match(
          finished.deployments?.[0]?.message ?? "",
          /web: label .* configs ap is no file/,
        );
        assert.equal(world.proxy.mutations(), mutations);
      }));
  });
}
