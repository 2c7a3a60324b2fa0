import { createWorld, type World, worldCommands } from "./world.ts";

/** Has `happens` done before the next program of the service that `isIt` names. */
export type Before = (
  isIt: (argv: readonly string[]) => boolean,
  happens: () => Promise<unknown>,
) => void;

/** Does a test in a world in which something can happen between two steps of the service. */
export async function withMeanwhile(
  test: (world: World, before: Before) => Promise<void>,
): Promise<void> {
  let next: Parameters<Before> = [() => false, () => Promise.resolve()];
  const run: typeof worldCommands.run = async (command, signal) => {
    const [isIt, happens] = next;
    if (isIt(command.argv)) {
      next = [() => false, happens];
      await happens();
    }
    return await worldCommands.run(command, signal);
  };
  const world = await createWorld({ engine: "fake", commands: { ...worldCommands, run } });
  try {
    await test(world, (...asked) => next = asked);
  } finally {
    await world.close();
  }
}

/** Whether a program renders compose files. */
export const renders = (argv: readonly string[]) => argv.includes("config");
