import type { Document } from "yaml";
import { errors, StackwrightError } from "../model/mod.ts";
import { keyGivenTwice, parseYaml, tooMuchYaml } from "./bounded_yaml.ts";

/** What an author may name: mounted configs and secrets by name, bind mounts by target path. */
const IGNORE_SCOPES = ["configs", "secrets", "bindMounts"] as const;

/** One scope of {@link IGNORE_SCOPES}. */
export type IgnoreScope = (typeof IGNORE_SCOPES)[number];

/** Mounted files of a service whose changes are written in place instead of replacing its container. */
export interface RecreateIgnore {
  /** Ignored names or target paths by scope; `all` for everything of that scope. */
  readonly items: ReadonlyMap<IgnoreScope, readonly string[] | "all">;
  /** Signal that tells the service of such a change, such as `SIGHUP`. */
  readonly signal: string | undefined;
}

/** The two labels as a service carries them. */
interface RecreateIgnoreLabels {
  /** `stackwright.deployment.recreate.ignore`: a YAML map from scope to a list, or to nothing for all. */
  readonly ignore: string | undefined;
  /** `stackwright.deployment.recreate.ignore.signal`. */
  readonly signal: string | undefined;
  /** Prefix of the label names, `stackwright.` by default. */
  readonly prefix?: string;
}

/** Scopes that doco-cd accepts without effect. */
const IDLE_SCOPES = ["volumes"];

/**
 * Reads the labels; `undefined` when a service has neither.
 *
 * Throws `config_invalid` for a label that is empty, no such map, names another scope or an item
 * twice, for a signal that does not exist, and for a signal without anything to ignore.
 */
export function parseRecreateIgnore(labels: RecreateIgnoreLabels): RecreateIgnore | undefined {
  const { ignore, signal, prefix = OWN_PREFIX } = labels;
  try {
    if (ignore === undefined) {
      if (signal === undefined) return undefined;
      throw invalid("recreate.ignore.signal needs recreate.ignore, which says what to ignore");
    }
    return {
      items: parseScopes(ignore, prefix === OWN_PREFIX ? [] : IDLE_SCOPES),
      signal: signal === undefined ? undefined : signalOf(signal),
    };
  } catch (error) {
    if (!(error instanceof StackwrightError)) throw error;
    throw new StackwrightError(error.code, `label ${prefix}deployment.${error.message}`);
  }
}

const OWN_PREFIX = "stackwright.";

function parseScopes(text: string, idle: readonly string[]): RecreateIgnore["items"] {
  const tooMuch = tooMuchYaml(text);
  if (tooMuch !== undefined) throw invalid(`recreate.ignore: ${tooMuch.replace("file", "label")}`);
  const [document, another] = parseYaml(text);
  const error = document?.errors[0]?.message ??
    (another === undefined ? undefined : "it has more than one document");
  if (error !== undefined) throw invalid(`recreate.ignore is no YAML map: ${error}`);
  if (document !== undefined && keyGivenTwice(document) !== undefined) {
    throw invalid("recreate.ignore is no YAML map: a key is given twice, keys are unique");
  }
  const value = document === undefined ? null : valueOf(document);
  const expected = `recreate.ignore: expected a map of ${scopes()}`;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid(`${expected}, found ${found(value)}`);
  }
  const entries = Object.entries(value);
  if (entries.length === 0) throw invalid(`${expected}, found {}`);
  const used = entries.filter(([scope]) => !idle.includes(scope));
  return new Map(used.map(([scope, items]) => [scopeOf(scope), itemsOf(scope, items)]));
}

/** The value of a document. Only this step finds unresolved or too many aliases, and throws. */
function valueOf(document: Document): unknown {
  try {
    return document.toJS();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw invalid(`recreate.ignore is no YAML map: ${reason.split("\n")[0]}`);
  }
}

function scopeOf(name: string): IgnoreScope {
  const scope = IGNORE_SCOPES.find((each) => each === name);
  if (scope !== undefined) return scope;
  throw invalid(`recreate.ignore: ${JSON.stringify(name)} is no scope; there are ${scopes()}`);
}

/** Most items of a scope: each may become a warning. */
const MOST_ITEMS = 200;

function itemsOf(scope: string, items: unknown): readonly string[] | "all" {
  if (items === null || (Array.isArray(items) && items.length === 0)) return "all";
  if (!Array.isArray(items)) {
    throw invalid(`recreate.ignore.${scope}: expected a list, found ${found(items)}`);
  }
  if (items.length > MOST_ITEMS) {
    const count = `recreate.ignore.${scope} has ${items.length} names, the most is ${MOST_ITEMS}`;
    throw invalid(`${count}; leave them out to mean everything`);
  }
  const seen = new Set<string>();
  return items.map((item: unknown) => {
    if (typeof item !== "string" || item === "") {
      throw invalid(`recreate.ignore.${scope}: expected names, found ${found(item)}`);
    }
    if (seen.has(item)) throw invalid(`recreate.ignore.${scope} names ${item} twice`);
    seen.add(item);
    return item;
  });
}

/** Signals of Linux; the engine accepts them by name or number. */
const SIGNALS =
  "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS"
    .split(" ");

function signalOf(text: string): string {
  const name = text.trim().toUpperCase().replace(/^SIG/, "");
  const isNumber = /^\d+$/.test(name) && Number(name) >= 1 && Number(name) <= 64;
  if (isNumber) return name;
  if (SIGNALS.includes(name) || /^RTM(IN(\+\d+)?|AX(-\d+)?)$/.test(name)) return `SIG${name}`;
  throw invalid(
    `recreate.ignore.signal: ${JSON.stringify(text)} is no signal; expected one such as SIGHUP`,
  );
}

function scopes(): string {
  return IGNORE_SCOPES.join(", ");
}

function found(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}

function invalid(message: string): StackwrightError {
  return errors.config_invalid(message);
}
