/**
 * What a pass costs when one repository has many stacks: over nothing new, over a commit that concerns
 * none of them, and over one that concerns one. Counts programs, calls of the engine and mutations,
 * because a pass must cost what changed and not what exists. Takes the number of stacks, 200 by
 * default, and compares with a quarter of them. Run it as `deno task bench`.
 */
import process from "node:process";
import { type Command, type Commands, systemCommands } from "../../src/system/mod.ts";
import { createWorld, IMAGE, type World } from "../flow/world.ts";

const STACKS = Number(process.argv[2] ?? 200);

const say = (line: string) => process.stdout.write(`${line}\n`);

/** Programs that were started, by what they are. */
interface Counted extends Commands {
  take(): string;
}

function countingCommands(): Counted {
  const counts = new Map<string, number>();
  const count = ({ argv }: Command) => {
    const [program = "", ...args] = argv;
    const words = args.filter((each) => /^[a-z][a-z-]+$/.test(each));
    const name = program.endsWith("docker")
      ? `compose ${words.find((each) => ["config", "up", "pull"].includes(each)) ?? "other"}`
      : `git ${words[0] ?? ""}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  };
  return {
    run(command, signal) {
      count(command);
      return systemCommands.run(command, signal);
    },
    start(command) {
      count(command);
      return systemCommands.start(command);
    },
    take() {
      const text = [...counts].map(([name, times]) => `${times} ${name}`).sort().join(", ");
      counts.clear();
      return text || "no programs";
    },
  };
}

const names = (count: number) => Array.from({ length: count }, (_, number) => `s${number}`);

async function prepare(world: World, count: number): Promise<void> {
  const documents = names(count).map((each) =>
    `name: ${world.stack}-${each}\nworking_dir: ${each}\n`
  );
  const files = names(count).flatMap((each) => [
    [
      `${each}/compose.yaml`,
      `services:\n  web:\n    image: ${IMAGE}\n    command: [sleep, "1000"]\n    volumes: ["./site:/site:ro"]\n`,
    ],
    [`${each}/site/index.html`, "one"],
  ]);
  await world.repository.commit({
    ".stackwright.yaml": documents.join("---\n"),
    ...Object.fromEntries(files),
  });
  await world.poll();
}

/** Polls five times after `change`, and says what the last one took and the middle of their times. */
async function measure(
  what: string,
  { world, commands, change }: {
    readonly world: World;
    readonly commands: Counted;
    readonly change: (pass: number) => Promise<unknown>;
  },
): Promise<number> {
  const times: number[] = [];
  let programs = "";
  let status = "";
  for (let pass = 0; pass < 5; pass++) {
    await change(pass);
    commands.take();
    world.proxy.reset();
    const began = performance.now();
    status = (await world.poll()).run.status;
    times.push(performance.now() - began);
    programs = commands.take();
  }
  const middle = times.sort((a, b) => a - b)[2] ?? 0;
  const { calls } = world.proxy;
  const reads = new Map<string, number>();
  for (const { method, path } of calls) {
    const kind = `${method} ${
      path.replace(/^\/v[\d.]+/, "").replace(/[?].*/, "").replace(/[0-9a-f]{12,}/g, "…")
    }`;
    reads.set(kind, (reads.get(kind) ?? 0) + 1);
  }
  const shown = [...reads].sort((a, b) => b[1] - a[1]).slice(0, 6)
    .map(([kind, times]) => `${times} ${kind}`).join(", ");
  say(
    `${what}: ${middle.toFixed(0)} ms, ${status}; ${programs}; ${calls.length} calls of the ` +
      `engine (${shown}), ${world.proxy.mutations()} mutations`,
  );
  return middle;
}

async function bench(count: number): Promise<readonly number[]> {
  const commands = countingCommands();
  const world = await createWorld({ engine: "fake", commands });
  try {
    const began = performance.now();
    await prepare(world, count);
    say(`${count} stacks deployed in ${((performance.now() - began) / 1000).toFixed(0)} s`);
    const common = { world, commands };
    return [
      await measure("nothing new", { ...common, change: () => Promise.resolve() }),
      await measure("a commit that concerns none", {
        ...common,
        change: (pass) => world.repository.commit({ "README.md": `${count} ${pass}` }),
      }),
      await measure("a commit that concerns one", {
        ...common,
        change: (pass) => world.repository.commit({ "s0/site/index.html": `${pass}` }),
      }),
    ];
  } finally {
    await world.close();
  }
}

const few = await bench(Math.max(1, Math.round(STACKS / 4)));
const many = await bench(STACKS);
const ratios = many.map((time, index) => (time / (few[index] ?? 1)).toFixed(1));
say(`four times the stacks take ${ratios.join(", ")} times as long`);
