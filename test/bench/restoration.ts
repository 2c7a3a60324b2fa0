/**
 * How long it takes from the death of a container to the start that restores it, on the real engine and
 * by its own clock: the quiet that the reconciler waits for, the look, and what the engine takes. Once
 * for one that was killed, and once for one that was removed, too, and is made anew. Run it as
 * `deno task bench`.
 */
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import type { ContainerEvent } from "../../src/docker/mod.ts";
import { COMPOSE_LABELS } from "../../src/model/mod.ts";
import { createWorld, engines, IMAGE, type World } from "../flow/world.ts";

const TURNS = 10;

/** How often the service said that a repair is over: what dies before that is a repair that failed. */
const repairs = ({ lines }: World) =>
  lines.filter(({ message }) => message.startsWith("repaired release")).length;

const say = (line: string) => process.stdout.write(`${line}\n`);

/** Milliseconds from the death of the stack's container to the next start of one. */
async function restored(world: World, end: (id: string) => Promise<void>): Promise<number> {
  const stop = new AbortController();
  const [container] = await world.containers();
  const labels = { [COMPOSE_LABELS.project]: world.stack };
  const actions = ["die", "start"];
  const since = BigInt(Date.now()) * 1_000_000n;
  const events = world.engine.containerEvents({ labels, actions, since }, stop.signal);
  const before = repairs(world);
  const ending = end(container?.id ?? "");
  let died: ContainerEvent | undefined;
  for await (const event of events) {
    if (event.action === "die") died ??= event;
    else if (died !== undefined) {
      await ending;
      while (repairs(world) === before) await pause(20);
      return Number(event.time - died.time) / 1e6;
    }
  }
  throw new Error("the engine's events ended");
}

async function measure(
  what: string,
  world: World,
  end: (id: string) => Promise<void>,
): Promise<void> {
  const times: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) times.push(await restored(world, end));
  times.sort((a, b) => a - b);
  const [middle = 0, worst = 0] = [times[Math.floor(TURNS / 2)], times.at(-1)];
  say(`${what}: median ${middle.toFixed(0)} ms, worst ${worst.toFixed(0)} ms, of ${TURNS}`);
}

if ((await engines()).includes("real")) {
  const world = await createWorld({ engine: "real" });
  try {
    const { signal } = new AbortController();
    const compose = `services: {web: {image: "${IMAGE}", command: [sleep, "1000"], init: true}}\n`;
    const events = "reconciliation: {events: [die, destroy]}";
    await world.repository.commit({
      ".stackwright.yaml": `name: ${world.stack}\n${events}\n`,
      "compose.yaml": compose,
    });
    await world.poll();
    const kill = (id: string) => world.engine.killContainer(id, "KILL", signal);
    await measure("from death to restoration, killed", world, kill);
    const remove = (id: string) =>
      world.engine.removeContainer(id, { force: true, volumes: false }, signal);
    await measure("from death to restoration, removed", world, remove);
  } finally {
    await world.close();
  }
} else {
  say("from death to restoration: not measured, there is no engine here");
}
