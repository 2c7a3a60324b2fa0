import { fewOf, isOurs, type ObservedStack, type Release } from "../model/mod.ts";

/** Most containers that a sentence names. */
const MOST_NAMED = 3;

/**
 * What runs of a stack without what is left alone: containers that Stackwright did not make, of services whose
 * profile is not active. `told` is the end of a sentence that names them; empty where there are none.
 */
export function leftAlone(
  { inactive = [] }: Pick<Release, "inactive"> = {},
  observed: ObservedStack | undefined,
): { readonly rest: ObservedStack | undefined; readonly told: string } {
  const names = new Set(inactive);
  const isLeft = (each: ObservedStack["containers"][number]) =>
    names.has(each.service) && !isOurs(each);
  const left = observed?.containers.filter(isLeft) ?? [];
  if (observed === undefined || left.length === 0) return { rest: observed, told: "" };
  const all = left.map(({ name }) => name).sort();
  const told = `; left alone, since the profile of the service is not active: ` +
    fewOf(all, MOST_NAMED);
  const rest = observed.containers.filter((each) => !isLeft(each));
  return { rest: { ...observed, containers: rest }, told };
}
