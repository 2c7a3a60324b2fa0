import type { DiscoveredDirectory, ExpandedDiscovery } from "../config/mod.ts";
import {
  type DeclaredDeployment,
  errors,
  type Revision,
  type StackwrightError,
} from "../model/mod.ts";

/** A discovery of a run, and what it found. */
export interface Discovery {
  readonly base: DeclaredDeployment;
  /** The revision that was searched. */
  readonly revision: Revision;
  /** Empty once it was given up: there may have been 200,000. */
  directories: readonly DiscoveredDirectory[];
  /** Bytes of its overrides that were read so far. */
  bytes: number;
  /** Its stacks, once its overrides were read. */
  expanded?: ExpandedDiscovery;
  /** Why it was given up. */
  error?: StackwrightError;
}

/** Deployments of one run: each may have a thousand containers, and few lines make many. */
const MOST_DEPLOYMENTS = 500;
/** Most bytes of the overrides of all stacks that a run discovers. */
export const MOST_OVERRIDES = 4 * 1024 * 1024;

/**
 * The discoveries of one run, which share what it may have. Where that is too little, the repository
 * that takes the most of it goes without its latest discovery: who adds directories to one repository
 * must not cost another one its stacks.
 */
export class FairDiscoveries {
  readonly #written: number;
  readonly #kept: Discovery[] = [];

  /** No discoveries yet, beside so many deployments that are written down. */
  constructor(written: number) {
    this.#written = written;
  }

  /** Those that were not given up, in the order in which they were added. */
  get kept(): readonly Discovery[] {
    return [...this.#kept];
  }

  /** Adds a discovery, maybe in the place of others; returns it. */
  add(discovery: Discovery): Discovery {
    this.#kept.push(discovery);
    const most = MOST_DEPLOYMENTS - this.#written;
    this.#giveUp(
      most,
      ({ directories }) => directories.length,
      (count) => tooMany(this.#written + count),
    );
    return discovery;
  }

  /** Counts an override of a discovery. */
  countOverride(discovery: Discovery, { length }: Uint8Array): void {
    discovery.bytes += length;
    this.#giveUp(MOST_OVERRIDES, ({ bytes }) => bytes, tooLong);
  }

  #giveUp(
    most: number,
    sizeOf: (each: Discovery) => number,
    why: (total: number) => StackwrightError,
  ): void {
    const sum = (all: readonly Discovery[]) => all.reduce((total, each) => total + sizeOf(each), 0);
    for (let total = sum(this.#kept); total > most; total = sum(this.#kept)) {
      const sized = this.#kept.filter((each) => sizeOf(each) > 0);
      const [largest = []] = [
        ...Map.groupBy(sized, ({ revision }) => revision.source.name).values(),
      ]
        // Of equal ones, the one that was added last.
        .reverse()
        .toSorted((one, other) => sum(other) - sum(one));
      const last = largest.at(-1);
      if (last === undefined) return;
      last.error = why(total);
      last.directories = [];
      delete last.expanded;
      this.#kept.splice(this.#kept.indexOf(last), 1);
    }
  }
}

/** Throws `config_invalid` for more deployments than a run may have. */
export function requireFew(count: number): void {
  if (count > MOST_DEPLOYMENTS) throw tooMany(count);
}

function tooMany(count: number): StackwrightError {
  return errors.config_invalid(
    `the configuration means ${count} deployments, the most of one repository and reference is ` +
      `${MOST_DEPLOYMENTS}; nothing was changed, spread them over several targets or branches`,
  );
}

function tooLong(): StackwrightError {
  return errors.config_invalid(
    `the overrides of all discovered stacks have more than ${MOST_OVERRIDES} bytes; nothing was ` +
      "changed, spread the stacks over several targets or branches",
  );
}
