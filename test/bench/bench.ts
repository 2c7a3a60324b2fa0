/**
 * What Stackwright costs, as ratios against something that runs beside it on the same machine in the same
 * minute: a pass over an unchanged stack against what a script would do for it (ask the remote, render
 * with compose), and a commit that matters against one that does not. Run it as `deno task bench`.
 */
import { execFileSync } from "node:child_process";
import process from "node:process";
import { createWorld, IMAGE, type World } from "../flow/world.ts";

const PASSES = 30;

/** Middle value of the times of `work`, in milliseconds. */
async function median(work: () => Promise<unknown> | unknown): Promise<number> {
  const times: number[] = [];
  for (let pass = 0; pass < PASSES; pass++) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  return times.sort((a, b) => a - b)[Math.floor(PASSES / 2)] ?? 0;
}

function say(what: string, ours: number, theirs: number, beside: string): void {
  const ratio = (theirs / ours).toFixed(1);
  process.stdout.write(
    `${what}: ${ours.toFixed(1)} ms; ${beside}: ${theirs.toFixed(1)} ms; ratio ${ratio}\n`,
  );
}

async function prepare(world: World): Promise<void> {
  await world.repository.commit({
    ".stackwright.yaml": `name: ${world.stack}\n`,
    "compose.yaml":
      `services:\n  web:\n    image: ${IMAGE}\n    command: [sleep, "1000"]\n    volumes: ["./site:/site:ro"]\n`,
    "site/index.html": "one",
  });
  await world.poll();
}

const world = await createWorld({ engine: "fake" });
try {
  await prepare(world);
  const work = world.repository.path.replace(/remote\.git$/, "work");
  const script = () => {
    execFileSync("git", ["ls-remote", world.repository.path, "refs/heads/main"]);
    execFileSync("docker", ["compose", "-p", world.stack, "--project-directory", work, "config"], {
      cwd: work,
    });
  };
  const noop = await median(() => world.poll());
  say("a pass over an unchanged stack", noop, await median(script), "ls-remote and compose config");
  let count = 0;
  const unrelated = await median(async () => {
    await world.repository.commit({ "README.md": `${count++}` });
    await world.poll();
  });
  const commitOnly = await median(() => world.repository.commit({ "README.md": `${count++}` }));
  const related = await median(async () => {
    await world.repository.commit({ "site/index.html": `${count++}` });
    await world.poll();
  });
  say(
    "a commit that does not concern the stack",
    unrelated - commitOnly,
    related - commitOnly,
    "one that replaces a service",
  );
} finally {
  await world.close();
}
