/** A change of one service that compose makes. */
interface Change {
  readonly name: string;
  /** Changes of one kind can be made by one call of compose. */
  readonly kind: string;
}

/** Changes that one call makes. */
interface ChangeGroup {
  readonly kind: string;
  readonly names: readonly string[];
}

/**
 * Groups changes into as few calls as dependencies allow: a service comes in a later group than
 * every dependency with a change of another kind, and not in an earlier one than a dependency with
 * the same kind. Otherwise the order of `kinds` decides.
 */
export function groupChanges(
  changes: readonly Change[],
  kinds: readonly string[],
  dependsOn: (name: string) => readonly string[],
): ChangeGroup[] {
  const groups: ChangeGroup[] = [];
  const left = new Map(changes.map(({ name, kind }) => [name, kind]));
  const dependents = new Map<string, string[]>(changes.map(({ name }) => [name, []]));
  for (const { name } of changes) {
    for (const each of dependsOn(name)) dependents.get(each)?.push(name);
  }
  while (left.size > 0) {
    const waiting = waitingOf(left, dependents);
    const all = Map.groupBy(left.keys(), (name) => left.get(name) ?? "");
    const possible = kinds.flatMap((kind) => {
      const names = all.get(kind)?.filter((each) => !waiting.has(each)) ?? [];
      return names.length === 0 ? [] : [{ kind, names }];
    });
    const whole = possible.find(({ kind, names }) => names.length === all.get(kind)?.length);
    // No kind is possible only in a dependency cycle, which compose refuses by itself.
    const [[kind = "", names = []] = []] = all;
    const group = whole ?? possible[0] ?? { kind, names };
    groups.push(group);
    group.names.forEach((each) => left.delete(each));
  }
  return groups;
}

/** The changes that wait for one of another kind, which one of their own kind may wait for. */
function waitingOf(
  left: ReadonlyMap<string, string>,
  dependents: ReadonlyMap<string, readonly string[]>,
): ReadonlySet<string> {
  const waiting = new Set<string>();
  for (const [name, kind] of left) {
    for (const each of dependents.get(name) ?? []) {
      if ((left.get(each) ?? kind) !== kind) waiting.add(each);
    }
  }
  // Those that are found are looked at as well.
  for (const name of waiting) {
    for (const each of dependents.get(name) ?? []) if (left.has(each)) waiting.add(each);
  }
  return waiting;
}
