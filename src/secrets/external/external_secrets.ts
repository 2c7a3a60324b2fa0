import { errors, isStackwrightError, messageOf, type SecretReference } from "../../model/mod.ts";
import {
  count,
  createKeyedLock,
  MOST_OF_AN_OWNER,
  type Redactor,
  secretParts,
} from "../../system/mod.ts";
import { Memo, type SecretProvider, unresolved } from "./provider.ts";

/** The variables of a deployment that come from a secret store. */
interface DeclaredSecrets {
  /** Name of the deployment, for messages. */
  readonly deployment: string;
  /** Name of the repository that is deployed, by which what is asked for is counted. */
  readonly repository: string;
  /** From the name of a variable to where its value is. */
  readonly references: Readonly<Record<string, SecretReference>>;
}

/** Resolves references for one run, and remembers their values. */
export interface SecretSession {
  /**
   * The values by variable; nothing is asked for where there are no references. Each distinct
   * reference of a repository is asked for once in a session, and after {@link MOST_FAILED} that
   * could not be read none of it.
   *
   * Throws `secret_unresolved` naming every variable without a value, the provider and the reasons.
   */
  resolve(declared: DeclaredSecrets, signal: AbortSignal): Promise<Record<string, string>>;
}

/** The external secrets of the instance. */
export interface ExternalSecrets {
  /** Begins a run. */
  open(): SecretSession;
  /**
   * Keeps values that were resolved earlier, by this process or another, out of everything shown.
   * `owner` is the deployment or the repository they belong to; those of the program have none.
   */
  hide(values: Iterable<string>, owner?: string): void;
  /** Forgets the values that only this owner has. */
  forget(owner: string): void;
  /** Notes the source of a stack; see {@link Redactor.belongs}. */
  belongs(stack: string, source: string, from?: string, owns?: boolean): void;
  /** Waits until texts about a stack can be told; see {@link Redactor.learned}. */
  learned(stack: string, signal: AbortSignal): Promise<void>;
  /** Settles the source that owns a stack; see {@link Redactor.settle}. */
  settle(stack: string, source: string, from?: string): void;
  /** Whether nothing is told about an owner; see {@link Redactor.isClosed}. */
  isClosed(owner: string): boolean;
  /** Opens a closed owner; see {@link Redactor.reopen}. */
  reopen(owner: string): void;
  /** Whether the redactor masks all of `text` in texts about `about`. */
  hides(text: string, about: string): boolean;
}

interface ExternalSecretsOptions {
  /** `undefined` when the instance has none: then every reference fails. */
  readonly provider: SecretProvider | undefined;
  readonly redactor: Redactor;
  /** References of one repository that a run resolves at the same time. */
  readonly concurrency?: number;
}

/** The owner of resolved values until a release has them. */
const OWNER = "external secrets";

/** Most references of one deployment: stores limit requests, and all deployments share one client. */
const MOST_REFERENCES = 1000;
/**
 * References of one repository that could not be read in one run, after which no others of it are asked for: stores
 * count what they refuse, and one that does not answer takes half a minute for each.
 */
const MOST_FAILED = 50;
/** Most characters of the variables of one deployment, which are handled while everybody else waits. */
const MOST_CHARACTERS = 2 * 1024 * 1024;
const TOO_MUCH = `with it there are more than ${MOST_OF_AN_OWNER} texts, or ` +
  `${MOST_CHARACTERS} characters, that must not be shown`;

const NOT_ASKED = `${MOST_FAILED} others of its repository could not be read in this run, so it ` +
  "was not asked for";

/** Makes the external secrets of the instance. */
export function createExternalSecrets(
  { provider, redactor, concurrency = 8 }: ExternalSecretsOptions,
): ExternalSecrets {
  return {
    open() {
      // Of each run and repository: one with thousands of slow references delays only itself.
      const limiter = createKeyedLock(concurrency);
      const failed = new Map<string, number>();
      const reader = provider?.open();
      const values = new Memo<string>();
      const read: Resolving["read"] = (reference, repository, signal) =>
        values.get(JSON.stringify([repository, identityOf(reference)]), async () => {
          if (reader === undefined) {
            throw unresolved("there is no secret provider; set SECRET_PROVIDER");
          }
          const ask = async () => {
            if ((failed.get(repository) ?? 0) >= MOST_FAILED) throw unresolved(NOT_ASKED);
            return await reader.read(reference, signal).catch((error) => {
              if (!signal.aborted) count(failed, repository, 1);
              throw error;
            });
          };
          const value = await limiter.run(repository, ask, signal);
          const texts = secretParts(value);
          if (texts.length > MOST_OF_AN_OWNER) throw unresolved(TOO_MUCH);
          texts.forEach((each) => redactor.add(each, OWNER));
          if (value.includes("\0")) throw unresolved("the value has a zero byte");
          return value;
        });
      return {
        resolve: (declared, signal) =>
          resolveAll(declared, { read, provider: provider?.name, signal }),
      };
    },
    hide: (values, owner) => {
      // A thousand variables may refer to one secret.
      for (const value of new Set(values)) {
        secretParts(value).forEach((each) => redactor.add(each, owner));
      }
    },
    forget: (owner) => redactor.forget(owner),
    belongs: (stack, source, from, owns) => redactor.belongs(stack, source, from, owns),
    learned: (stack, signal) => redactor.learned([stack], signal),
    settle: (stack, source, from) => redactor.settle(stack, source, from),
    isClosed: (owner) => redactor.isClosed(owner),
    reopen: (owner) => redactor.reopen(owner),
    // Of whom nothing is told, nothing is known either.
    hides: (text, about) =>
      text !== "" && !redactor.isClosed(about) &&
      /^(?:\*\*\*)+$/.test(redactor.redactKnown(text, about)),
  };
}

interface Resolving {
  readonly read: (
    reference: SecretReference,
    repository: string,
    signal: AbortSignal,
  ) => Promise<string>;
  readonly provider: string | undefined;
  readonly signal: AbortSignal;
}

async function resolveAll(
  { deployment, repository, references }: DeclaredSecrets,
  { read, provider, signal }: Resolving,
): Promise<Record<string, string>> {
  const names = Object.keys(references).sort();
  if (names.length > MOST_REFERENCES) {
    throw errors.secret_unresolved(
      `deployment ${deployment} has ${names.length} external secrets, the most it may have is ` +
        `${MOST_REFERENCES}; nothing was asked for`,
    );
  }
  const countValue = counter();
  const results = await Promise.allSettled(names.map(async (name) => {
    requireVariableName(name);
    const reference = references[name];
    const value = reference === undefined ? "" : await read(reference, repository, signal);
    countValue(value);
    return value;
  }));
  signal.throwIfAborted();
  const found: Record<string, string> = {};
  const reasons = new Map<string, string[]>();
  for (const [index, result] of results.entries()) {
    const name = names[index] ?? "";
    if (result.status === "fulfilled") found[name] = result.value;
    else {
      const reason = reasonOf(result.reason);
      reasons.set(reason, [...reasons.get(reason) ?? [], name]);
    }
  }
  if (reasons.size === 0) return found;
  const texts = [...reasons].map(([reason, variables]) => `${variables.join(", ")}: ${reason}`);
  const from = provider === undefined ? "" : ` from ${provider}`;
  throw errors.secret_unresolved(
    `deployment ${deployment}: external secrets could not be read${from}: ${texts.join("; ")}`,
    { cause: results.find((each) => each.status === "rejected")?.reason },
  );
}

/** Counts the values of a deployment's variables; throws at the one with which they are too much. */
function counter(): (value: string) => void {
  const values = new Set<string>();
  let [texts, characters] = [0, 0];
  return (value) => {
    characters += value.length;
    if (characters <= MOST_CHARACTERS && !values.has(value)) texts += secretParts(value).length;
    values.add(value);
    if (characters > MOST_CHARACTERS || texts > MOST_OF_AN_OWNER) throw unresolved(TOO_MUCH);
  };
}

/** The reason in an error of ours; messages of other errors may hold anything, even values. */
function reasonOf(error: unknown): string {
  return isStackwrightError(error) ? messageOf(error) : "reading it failed unexpectedly";
}

function requireVariableName(name: string): void {
  if (/^[^=\0\s]+$/.test(name)) return;
  throw unresolved("is no name of a variable");
}

function identityOf(reference: SecretReference): string {
  if (reference.kind === "text") return JSON.stringify([reference.text]);
  const entries = Object.entries(reference.remoteRef).sort(([a], [b]) => a < b ? -1 : 1);
  return JSON.stringify([reference.storeRef, entries]);
}
