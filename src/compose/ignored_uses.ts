import { type IgnoreScope, parseRecreateIgnore, type RecreateIgnore } from "../config/mod.ts";
import {
  BEHAVIOUR_LABELS,
  behaviourLabel,
  type ComposeModel,
  errors,
  MIGRATION_LABEL_PREFIX,
  withoutEnd,
} from "../model/mod.ts";
import { labelsOf, servicesOf } from "./model.ts";
import type { TreeUse } from "./tree_paths.ts";

const SCOPE_OF: Readonly<Record<TreeUse["kind"], IgnoreScope | undefined>> = {
  bind: "bindMounts",
  config: "configs",
  secret: "secrets",
  build: undefined,
};

/** Changes that the services of a release want done in place. */
export interface IgnoredUses {
  /** Uses whose content is kept up to date in place and does not replace a container. */
  readonly uses: ReadonlySet<TreeUse>;
  /** Signal to send after such a change, by service. */
  readonly signals: ReadonlyMap<string, string>;
  /** What doco-cd's label names without any effect, in sentences for people. */
  readonly warnings: readonly string[];
}

/**
 * The uses that services exempt from replacing them (`stackwright.deployment.recreate.ignore`).
 *
 * Throws `config_invalid`, naming the service, when a label cannot be read or names something that is
 * no file of the source mounted by that service: a misspelt name must not replace containers silently.
 * Under doco-cd's name of the label that has no effect, as there, and is a warning.
 */
export function ignoredUses(model: ComposeModel, uses: readonly TreeUse[]): IgnoredUses {
  const ignored = new Set<TreeUse>();
  const signals = new Map<string, string>();
  const warnings: string[] = [];
  for (const [name, service] of Object.entries(servicesOf(model))) {
    const asked = readLabels(name, labelsOf(service));
    if (asked === undefined) continue;
    const own = uses.filter((use) => use.service === name);
    warnings.push(...checkKnown(name, asked, own));
    for (const use of own.filter(ignores(asked))) ignored.add(use);
    if (asked.signal !== undefined) signals.set(name, asked.signal);
  }
  return { uses: ignored, signals, warnings };
}

/** What a service asks for, and under which name. */
interface Asked extends RecreateIgnore {
  readonly isOurs: boolean;
}

function readLabels(service: string, labels: Readonly<Record<string, string>>): Asked | undefined {
  const { recreateIgnore, recreateIgnoreSignal } = BEHAVIOUR_LABELS;
  const isOurs = [recreateIgnore, recreateIgnoreSignal].some((name) => labels[name] !== undefined);
  try {
    const asked = parseRecreateIgnore({
      ignore: behaviourLabel(labels, recreateIgnore),
      signal: behaviourLabel(labels, recreateIgnoreSignal),
      ...(isOurs ? {} : { prefix: MIGRATION_LABEL_PREFIX }),
    });
    return asked === undefined ? undefined : { ...asked, isOurs };
  } catch (cause) {
    throw errors.config_invalid(
      `service ${service}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

function ignores({ items }: RecreateIgnore): (use: TreeUse) => boolean {
  const named = new Map(
    [...items].map(([scope, each]) => [scope, each === "all" ? each : new Set(each.map(trimmed))]),
  );
  return ({ kind, item }) => {
    const scope = SCOPE_OF[kind];
    const some = scope === undefined ? undefined : named.get(scope);
    return some === "all" || some?.has(trimmed(item)) === true;
  };
}

/** Paths of mounts may end in a slash, which says nothing. */
function trimmed(item: string): string {
  return item.startsWith("/") ? withoutEnd(item, "/") || "/" : item;
}

/** Names that a message tells; a service may mount ten thousands. */
const MOST_TOLD = 20;

/** The warnings of items that name nothing; under our own label they are errors. */
function checkKnown(service: string, asked: Asked, own: readonly TreeUse[]): string[] {
  const warnings: string[] = [];
  const { recreateIgnore } = BEHAVIOUR_LABELS;
  const refused = (what: string) =>
    errors.config_invalid(`service ${service}: label ${recreateIgnore}: ${what}`);
  for (const [scope, items] of asked.items) {
    if (items === "all") continue;
    const known = own.filter((use) => SCOPE_OF[use.kind] === scope).map((use) => use.item);
    const more = known.length > MOST_TOLD ? [`${known.length - MOST_TOLD} more`] : [];
    const there = [...known.slice(0, MOST_TOLD), ...more].join(", ") || "none";
    const names = new Set(known.map(trimmed));
    for (const unknown of items.filter((item) => !names.has(trimmed(item)))) {
      const what =
        `${scope} ${unknown} is no file of the repository that the service mounts; there ` +
        `is ${there}`;
      if (asked.isOurs) throw refused(what);
      const label = recreateIgnore.replace(/^stackwright\./, MIGRATION_LABEL_PREFIX);
      warnings.push(`service ${service}: label ${label}: ${what}; it has no effect`);
    }
  }
  return warnings;
}
