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
  let left = changes;
  while (left.length > 0) {
    const possible = kinds.map((kind) => ({ kind, names: ready(kind, left, dependsOn) }))
      .filter(({ names }) => names.length > 0);
    const whole = possible.find(({ kind, names }) =>
      names.length === left.filter((each) => each.kind === kind).length
    );
    // No kind is possible only in a dependency cycle, which compose refuses by itself.
    const group = whole ?? possible[0] ?? circle(left);
    groups.push(group);
    left = left.filter((each) => !group.names.includes(each.name));
  }
  return groups;
}

/** The changes of one kind that wait for no change of another kind. */
function ready(
  kind: string,
  left: readonly Change[],
  dependsOn: (name: string) => readonly string[],
): string[] {
  let names = left.filter((each) => each.kind === kind).map((each) => each.name);
  for (;;) {
    const waits = (name: string) =>
      dependsOn(name).some((each) =>
        !names.includes(each) && left.some((other) => other.name === each)
      );
    const rest = names.filter((name) => !waits(name));
    if (rest.length === names.length) return names;
    names = rest;
  }
}

function circle(left: readonly Change[]): ChangeGroup {
  const kind = left[0]?.kind ?? "";
  return { kind, names: left.filter((each) => each.kind === kind).map((each) => each.name) };
}
