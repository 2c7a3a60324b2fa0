import type { Engine } from "../docker/mod.ts";
import { beyondObserved, isStackwrightError, messageOf, type StackKey } from "../model/mod.ts";
import { observeEngine, type SeenEngine } from "../pipeline/mod.ts";
import type { StackFacts } from "../plan/mod.ts";
import type { Ledger, RecordedRelease } from "../record/mod.ts";
import type { Clock } from "../system/mod.ts";

/** Parts for looking at what runs. */
export interface LookParts {
  /** The engine of a context; rejects for one that does not exist or cannot be used. */
  readonly engineOf: (context: string) => Promise<Engine>;
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** Milliseconds to wait for engines. */
  readonly limitMs: number;
}

/** The contexts to look at, the deployed releases there, and the only stack that is asked about. */
interface Asked {
  readonly contexts: Iterable<string>;
  readonly current: readonly Pick<RecordedRelease, "key" | "swarm">[];
  readonly only: string | undefined;
}

/** What was observed on an engine, or why it could not be asked. */
export type Seen =
  | (SeenEngine & { readonly isPartial?: boolean })
  | "no context"
  | { readonly unseen: string }
  | undefined;

/** What is known of what runs of a release; `undefined` where the engine did not tell. */
export function seenOf(there: Seen, current: RecordedRelease | undefined): SeenEngine | undefined {
  if (there === undefined || typeof there === "string" || "unseen" in there) return undefined;
  return current?.swarm !== undefined && there.isPartial === true ? undefined : there;
}

/** What runs of a stack, or why that is not known. */
export function whatIsSeen(
  there: Seen,
  seen: SeenEngine | undefined,
  { name }: Pick<StackKey, "name">,
): Pick<StackFacts, "observed" | "unseen"> {
  // `undefined` where the engine did not answer; that is not the same as no containers.
  const observed = seen && (seen.stacks.get(name) ?? { containers: [] });
  const beyond = observed && beyondObserved(name, observed);
  if (beyond !== undefined) return { observed: undefined, unseen: beyond };
  return { observed, ...(typeof there === "object" && "unseen" in there && there) };
}

/** Looks at the engine of each context, all at once. */
export async function whatRuns(
  parts: LookParts,
  { contexts, current, only }: Asked,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Seen>> {
  const looks = [...contexts].map(async (context) => {
    const withServices = current.some(({ key, swarm }) =>
      key.context === context && swarm !== undefined
    );
    const place = { context, isManager: withServices, ...(only && { stack: only }) };
    return [context, await lookAt({ ...parts, place }, signal)] as const;
  });
  return new Map(await Promise.all(looks));
}

async function lookAt(
  { engineOf, clock, limitMs, ledger, place }:
    & LookParts
    & { readonly place: Parameters<typeof observeEngine>[2] },
  signal: AbortSignal,
): Promise<Seen> {
  const done = new AbortController();
  const late = clock.sleep(limitMs, done.signal).then(() => ({
    unseen: `the engine did not answer within ${limitMs / 1000} s`,
  }), () => undefined);
  const limited = AbortSignal.any([signal, done.signal]);
  try {
    const look = async (): Promise<Seen> => {
      const engine = await engineOf(place.context);
      try {
        return await observeEngine(engine, ledger, place, limited);
      } catch (error) {
        if (!place.isManager || !isStackwrightError(error, "engine_refused")) throw error;
        // The engine is no swarm manager any more, but its containers can still be observed.
        const containers = { ...place, isManager: false };
        return { ...await observeEngine(engine, ledger, containers, limited), isPartial: true };
      }
    };
    return await Promise.race([look(), late]);
  } catch (error) {
    signal.throwIfAborted();
    return isStackwrightError(error, "bad_request")
      ? "no context"
      : { unseen: `the engine does not say what runs: ${messageOf(error)}` };
  } finally {
    done.abort();
  }
}
