import {
  type IgnoreScope,
  parseRecreateIgnore,
  type RecreateIgnore,
  signsIn,
} from "../config/mod.ts";
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

/** Changes in place that services of a release ask for. */
export interface IgnoredUses {
  /** Uses whose content is updated in place instead of replacing the container. */
  readonly uses: ReadonlySet<TreeUse>;
  /** Signal to send after an update in place, by service. */
  readonly signals: ReadonlyMap<string, string>;
  /** Sentences for people on items in doco-cd's label that have no effect. */
  readonly warnings: readonly string[];
}

/**
 * The uses for which services are not replaced (`stackwright.deployment.recreate.ignore`).
 *
 * Throws `config_invalid`, naming the service, for a label that cannot be parsed or that names
 * something else than a mounted file of the source: a misspelt name must not replace containers
 * silently. With doco-cd's label, which ignores such names as well, it is only a warning.
 */
export function ignoredUses(model: ComposeModel, uses: readonly TreeUse[]): IgnoredUses {
  const ignored = new Set<TreeUse>();
  const signals = new Map<string, string>();
  const warnings: string[] = [];
  const usesOf = Map.groupBy(uses, ({ service }) => service);
  let signs = 0;
  for (const [name, service] of Object.entries(servicesOf(model))) {
    const labels = labelsOf(service);
    signs += signsOf(behaviourLabel(labels, BEHAVIOUR_LABELS.recreateIgnore) ?? "");
    if (signs > MOST_SIGNS) throw tooMany();
    const asked = readLabels(name, labels);
    if (asked === undefined) continue;
    const own = usesOf.get(name) ?? [];
    const unknown = checkKnown(name, asked, own);
    warnings.push(...unknown.slice(0, MOST_WARNINGS - warnings.length));
    for (const use of own.filter(ignores(asked))) ignored.add(use);
    if (asked.signal !== undefined) signals.set(name, asked.signal);
  }
  return { uses: ignored, signals, warnings };
}

/** Most signs of these labels of all services: parsing each takes microseconds, all of them at once. */
const MOST_SIGNS = 20_000;

/** Signs of YAML in a label, counted before it is parsed; 64 characters count as one. */
function signsOf(label: string): number {
  return signsIn(label) + label.length / 64;
}

function tooMany() {
  const label = BEHAVIOUR_LABELS.recreateIgnore;
  return errors.config_invalid(
    `the labels ${label} of all services have more than ${MOST_SIGNS} signs such as colons and ` +
      "commas together: leave names out to mean everything of a scope, or make several deployments",
  );
}

/** A service's request, and whether it uses our own label. */
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

/** The path of a mount without a final slash, which has no meaning. */
function trimmed(item: string): string {
  return item.startsWith("/") ? withoutEnd(item, "/") || "/" : item;
}

/** Names in a message; a service may have tens of thousands of mounts. */
const MOST_TOLD = 20;
/** Warnings, each with that many names of 4,096 characters: one more than are told. */
const MOST_WARNINGS = 21;

/** Warnings about items that match nothing; throws for our own label. */
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
