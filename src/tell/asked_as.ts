import type { Sync, TargetListener } from "../model/mod.ts";

/** Listeners to which what a person asked for is the trigger; unchanged where nothing is named. */
export function askedAs(
  trigger: Sync["asked"],
  listeners: readonly TargetListener[],
): readonly TargetListener[] {
  if (trigger === undefined) return listeners;
  return listeners.map((listen): TargetListener => (target) => listen({ ...target, trigger }));
}
