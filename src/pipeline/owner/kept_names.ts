import { allResourcesOf, fitsTemplate } from "../../compose/mod.ts";
import type { Destroy } from "../../deploy/mod.ts";
import { formatStackKey, LABELS, type StackKey } from "../../model/mod.ts";
import type { Ledger, RecordedRelease } from "../../record/ledger.ts";
import { createPauses } from "../../system/mod.ts";
import { openedOf } from "./claim.ts";

/**
 * Why things that were made for a stack stay when it goes, by what releases say of their names: its own
 * calls them external now, which is how data is kept from `down --volumes`; or another stack of its engine
 * defines or mounts the volume, which starts with the data of this one, as after a rename. All volumes stay where
 * one of these releases cannot be read, as with another key.
 */
export async function keptNames(
  ledger: Pick<Ledger, "current" | "currents" | "history" | "open" | "owners">,
  key: StackKey,
): Promise<NonNullable<Destroy["whyKept"]>> {
  const isOwn = (each: RecordedRelease) => formatStackKey(each.key) === formatStackKey(key);
  const contexts = [key.context, ...ledger.owners.contextsBeside(key)];
  const others = contexts.flatMap((each) => ledger.currents(each)).filter((each) => !isOwn(each));
  // The last one may have failed, and tells what its author wants all the same. What went last is of a removed stack.
  const good = ledger.current(key) ??
    ledger.history(key, Number.MAX_SAFE_INTEGER).find(({ status }) => status === "deployed");
  const own = [good, ledger.history(key, 1)[0]].flatMap((each) => each ?? []);
  const reasons = { network: new Map<string, string>(), volume: new Map<string, string>() };
  const templates: [written: string, why: string][] = [];
  let unread: string | undefined;
  const pauses = createPauses(1);
  for (const release of [...others, ...own]) {
    await pauses.after(1);
    const opened = openedOf(ledger, release);
    if (opened === undefined) {
      unread ??= `release ${release.number} of ${release.key.name} cannot be read, and may have it`;
      continue;
    }
    for (const [kind, kinds] of [["network", "networks"], ["volume", "volumes"]] as const) {
      for (const { name, external } of allResourcesOf(opened, kinds)) {
        const says = external ? "calls it external" : "defines it";
        if (!isOwn(release)) {
          if (kind !== "volume") continue;
          const why = `stack ${release.key.name} ${says}`;
          // Only a swarm fills templates: elsewhere `{{` is a name that no volume has, and keeps nothing.
          if (release.swarm !== undefined && name.includes("{{")) templates.push([name, why]);
          else reasons.volume.set(name, why);
        } else if (external) reasons[kind].set(name, `release ${release.number} ${says}`);
      }
    }
  }
  return ({ name, labels }, kind) => {
    if (kind !== "network" && kind !== "volume") return undefined;
    // A release calls the copies of its own files external.
    if (labels[LABELS.files] !== undefined) return undefined;
    const known = reasons[kind].get(name);
    if (known !== undefined || kind === "network") return known;
    return templates.find(([written]) => fitsTemplate(written, name))?.[1] ?? unread;
  };
}
