import { join } from "node:path";
import { DEFAULT_CONTEXT, fewOf, messageOf, type StackKey } from "../model/mod.ts";
import { recordedStacks } from "../record/mod.ts";
import type { Settings } from "../settings/mod.ts";
import { atEnd, noMeter } from "../system/mod.ts";
import { engineSays } from "./engine_says.ts";
import { createEngines, type Engines } from "./engines.ts";
import { LEDGER_FILE } from "./open_state.ts";
import type { System } from "./system.ts";

interface CheckedContext {
  readonly context: string;
  /** False where stacks cannot be managed; a context without stacks may be away. */
  readonly isFine: boolean;
  /** The result in a few words. */
  readonly says: string;
}

/** Stacks to name; more are only counted. */
const MOST_NAMED = 5;

/**
 * Asks the engine of each context but the default one, including contexts that only the ledger
 * knows, and tells which stacks they have. Never rejects: an unusable address of the default
 * engine, with which no engine can be asked, is not reported here.
 */
export async function checkContexts(
  settings: Settings,
  system: System,
  signal: AbortSignal,
): Promise<CheckedContext[]> {
  let engines: Engines;
  try {
    engines = createEngines(settings, system, noMeter);
  } catch {
    return [];
  }
  using _ = atEnd(() => engines.close());
  const stacks = knownStacks(settings);
  const names = new Set([
    ...await engines.names(),
    ...stacks?.map(({ context }) => context) ?? [],
  ]);
  names.delete(DEFAULT_CONTEXT);
  return await Promise.all(
    [...names].sort().map(async (context) => {
      const used = stacks?.filter((each) => each.context === context);
      const { isThere, says } = await ask(engines, { context, settings }, signal);
      const isFine = isThere || used?.length === 0;
      return { context, isFine, says: `${says}; ${usedBy(used)}` };
    }),
  );
}

async function ask(
  engines: Engines,
  { context, settings }: { readonly context: string; readonly settings: Settings },
  signal: AbortSignal,
): Promise<{ readonly isThere: boolean; readonly says: string }> {
  try {
    const { client } = await engines.of(context);
    return { isThere: true, says: await engineSays(client, settings, signal) };
  } catch (error) {
    return { isThere: false, says: messageOf(error) };
  }
}

function usedBy(stacks: readonly StackKey[] | undefined): string {
  if (stacks === undefined) return "which stacks it has is not known: the ledger cannot be read";
  if (stacks.length === 0) return "no stack is there";
  return `has ${fewOf(stacks.map(({ name }) => name), MOST_NAMED)}`;
}

function knownStacks({ data }: Settings): StackKey[] | undefined {
  try {
    return recordedStacks(join(data.dir, LEDGER_FILE));
  } catch {
    return undefined;
  }
}
