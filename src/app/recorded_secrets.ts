import { formatStackKey, type StackKey } from "../model/mod.ts";
import { hideSecrets } from "../prepare/mod.ts";
import { type Ledger, recordedOwner } from "../record/mod.ts";
import type { ExternalSecrets } from "../secrets/mod.ts";
import { sourceAsOwner, stackAsOwner } from "../system/mod.ts";

/** Stacks to remember as looked at. */
const MOST_STACKS = 10_000;

/**
 * Teacher of a redactor: hides the secrets of a stack's recorded releases, each once, when a text about
 * that stack is about to be told. A stack that is unchanged since an earlier process, or that another
 * process deployed, is never rendered here, and its containers print what they like.
 */
export function recordedSecrets(
  ledger: Pick<Ledger, "alive" | "current" | "foreignVersion" | "open" | "owners">,
  secrets: Pick<ExternalSecrets, "belongs" | "hide">,
): (key: StackKey) => void {
  /** Version of the ledger at the last look at each stack, and the marks of what was hidden. */
  const looked = new Map<
    string,
    { readonly version: number; readonly marks: ReadonlySet<string> }
  >();
  return (key) => {
    const name = formatStackKey(key);
    const before = looked.get(name);
    const version = ledger.foreignVersion();
    // What this process records it has rendered, or brought to disk: that is hidden already.
    if (before?.version === version) return;
    const alive = ledger.alive(key);
    const news = alive.filter(({ mark }) => before?.marks.has(mark) !== true);
    const owner = recordedOwner(ledger, key)?.source;
    if (owner !== undefined) secrets.belongs(stackAsOwner(key), sourceAsOwner(owner));
    for (const { recorded } of news) hideSecrets({ secrets }, ledger.open(recorded));
    looked.delete(name);
    looked.set(name, { version, marks: new Set(alive.map(({ mark }) => mark)) });
    // Anybody may ask about stacks that do not exist; one that is forgotten is looked at again.
    const [oldest] = looked.keys();
    if (looked.size > MOST_STACKS && oldest !== undefined) looked.delete(oldest);
  };
}
