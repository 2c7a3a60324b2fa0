import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../fakes/free_port.ts";
import { rows } from "./commands.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { commit, docker, ids, inWorld, pollTo } from "./steps.ts";
import { createWorld, decidingEngine, type World } from "./world.ts";

const [PORT, INSIDE] = [await freePort(), await freePort()];
const port = { ports: [`127.0.0.1:${PORT}:80`] };
/** Refuses to run beside another one on the same directory. */
const ALONE = "trap 'rm -f /data/lock; exit 0' TERM; test ! -e /data/lock || exit 9; " +
  "touch /data/lock; while :; do sleep 0.1; done";
const alone = (more: Part = {}) =>
  service({
    command: ["sh", "-c", ALONE],
    stop_grace_period: "10s",
    volumes: ["data:/data", "/anonymous"],
    ...more,
  });
const volumes = { volumes: { data: {} } };
const subnet = `10.${200 + process.pid % 50}.${(process.pid >> 6) % 250}`;
const lan = { networks: { lan: { ipam: { config: [{ subnet: `${subnet}.0/28` }] } } } };
const fixed = { networks: { lan: { ipv4_address: `${subnet}.9` } } };
const onHost = {
  network_mode: "host",
  command: ["httpd", "-f", "-p", `127.0.0.1:${INSIDE}`],
};

interface HandOver {
  readonly title: string;
  readonly before: Readonly<Record<string, Part>>;
  readonly after: Readonly<Record<string, Part>>;
  /** What of the compose file is not in services. */
  readonly rest?: Part;
}

/** What plain compose can do, at most with `--remove-orphans`. */
const HAND_OVERS: readonly HandOver[] = [
  {
    title: "a port goes to a new service that its old holder shares the network of",
    before: { app: service(port) },
    after: { app: service({ network_mode: "service:vpn" }), vpn: service(port) },
  },
  {
    title: "a port goes to another service when its holder is scaled to 0",
    before: { a: service(port), b: service() },
    after: { a: service({ ...port, scale: 0 }), b: service(port) },
  },
  {
    title: "a renamed service keeps its port and its container's name",
    before: { old: service({ ...port, container_name: `swt-front-${PORT}` }) },
    after: { new: service({ ...port, container_name: `swt-front-${PORT}` }) },
  },
  {
    title: "two services exchange their containers' names",
    before: {
      a: service({ container_name: `swt-a-${PORT}` }),
      b: service({ container_name: `swt-b-${PORT}` }),
    },
    after: {
      a: service({ container_name: `swt-b-${PORT}` }),
      b: service({ container_name: `swt-a-${PORT}` }),
    },
  },
  {
    title: "a renamed service keeps its fixed address",
    before: { old: service(fixed) },
    after: { new: service(fixed) },
    rest: lan,
  },
  {
    title: "a renamed service on the host's network keeps its port",
    before: { old: service(onHost) },
    after: { new: service(onHost) },
  },
  {
    title: "a renamed service is never beside its old self on one volume",
    before: { db: alone() },
    after: { postgres: alone() },
    rest: volumes,
  },
];

for (const engine of await decidingEngine()) {
  describe(`what a started service needs of another on the ${engine} engine`, () => {
    for (const { title, before, after, rest } of HAND_OVERS) {
      it(`${title}, and the other way round when the release fails`, () =>
        inWorld(engine, async (world) => {
          world.fake?.setBehaviour("bad", { exit: 3, afterMs: 0 });
          await commit(world, { "compose.yaml": composeFile(before, rest) });
          await pollTo(world, "succeeded");
          const first = await ids(world);
          const bad = service({ command: ["sh", "-c", "exit 3"] });
          await commit(world, { "compose.yaml": composeFile({ ...after, bad }, rest) });
          const { deployments } = await pollTo(world, "failed");
          assert.match(deployments?.[0]?.message ?? "", /service bad: .*was put back/s);
          assert.deepEqual(await running(world), wanted(before));
          // What only had to make room was started again as it was.
          const kept = Object.keys(before).filter((name) => after[name] === undefined);
          const names = (await world.containers()).filter((each) => kept.includes(each.service));
          assert.deepEqual(names.filter((each) => !Object.values(first).includes(each.id)), []);

          await commit(world, { "compose.yaml": composeFile(after, rest) });
          await pollTo(world, "succeeded");
          assert.deepEqual(await running(world), wanted(after));
        }));
    }

    it("a renamed service finds its anonymous volume again when the release fails", () =>
      inWorld(engine, async (world) => {
        world.fake?.setBehaviour("postgres", { exit: 3, afterMs: 0 });
        await commit(world, { "compose.yaml": composeFile({ db: alone() }, volumes) });
        await pollTo(world, "succeeded");
        const before = { ids: await ids(world), mounts: await mounts(world) };
        const bad = alone({ command: ["sh", "-c", "exit 3"] });
        await commit(world, { "compose.yaml": composeFile({ postgres: bad }, volumes) });
        await pollTo(world, "failed");
        assert.deepEqual(await running(world), { db: "running" });
        const after = { ids: await ids(world), mounts: await mounts(world) };
        assert.equal(after.ids["db-1"], before.ids["db-1"]);
        assert.deepEqual(after.mounts, before.mounts);
      }));

    it("a service that made room runs again when its deployment was interrupted, and fails later", async () => {
      let onMutation = () => {};
      const world: World = await createWorld({ engine, onMutation: () => onMutation() });
      try {
        world.fake?.setBehaviour("db", { stopsWith: 0 });
        world.fake?.setBehaviour("postgres", { exit: 3, afterMs: 0 });
        await commit(world, { "compose.yaml": composeFile({ db: alone() }, volumes) });
        await pollTo(world, "succeeded");
        const before = await ids(world);
        const bad = alone({ command: ["sh", "-c", "exit 3"] });
        const compose = { "compose.yaml": composeFile({ postgres: bad }, volumes) };
        await commit(world, compose);
        const stopped = new Promise<void>((resolve) => {
          onMutation = () => {
            if (!world.proxy.calls.some((call) => call.path.endsWith("/stop"))) return;
            onMutation = () => {};
            world.proxy.setAway(true);
            resolve();
          };
        });
        const poll = world.poll().catch(() => {});
        await stopped;
        await world.stop();
        await poll;
        const left = await world.containers();
        assert.deepEqual(left.map((each) => [each.state, each.exitCode]), [["exited", 0]]);
        world.proxy.setAway(false);
        world.proxy.reset();
        await world.restart();
        const open = "SELECT * FROM intents WHERE closed_at IS NULL";
        while (rows(world, open).length > 0) await pause(20);
        assert.deepEqual(await running(world), { db: "running" });
        assert.deepEqual(await ids(world), before);
      } finally {
        await world.close();
      }
    });
  });
}

/** States by service, of those that a release wants containers of. */
function wanted(services: Readonly<Record<string, Part>>): Record<string, string> {
  const names = Object.keys(services).filter((name) => services[name]?.["scale"] !== 0);
  return Object.fromEntries(names.map((name) => [name, "running"]));
}

async function running(world: World): Promise<Record<string, string>> {
  const containers = await world.containers();
  return Object.fromEntries(containers.map((each) => [each.service, each.state]));
}

/** Names and sources of what is mounted into `db`. */
async function mounts(world: World): Promise<string[]> {
  const format = "{{range .Mounts}}{{.Name}} {{.Destination}}\n{{end}}";
  const text = await docker(world, "inspect", "--format", format, `${world.stack}-db-1`);
  return text.trim().split("\n").sort();
}
