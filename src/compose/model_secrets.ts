import type { ComposeInvocation, ComposeModel, Release } from "../model/mod.ts";
import {
  embeddedSecrets,
  MOST_OF_AN_OWNER,
  namedSecretParts,
  optionSecrets,
  type Pauses,
  secretParts,
  soundsSecret,
  worthHiding,
} from "../system/mod.ts";
import { isObject, type JsonObject, servicesOf, textAt } from "./model.ts";
import { resourcesOf } from "./resources.ts";
import { plainDollars } from "./tree_paths.ts";

/** Maps with names chosen by authors, so that a name tells whether its value is secret. */
export const NAMED_VALUES: ReadonlySet<string> = new Set([
  "annotations",
  "args",
  "driver_opts",
  "environment",
  "labels",
  "options",
]);

/**
 * The texts of a rendered model to hide: values with names that sound secret, passwords in URLs and
 * in command lines, anywhere. Texts that are part of a name (of services, images, volumes) are left
 * out, since messages must show names. Pauses for other work: a model may have megabytes of texts.
 */
export async function secretsInModel(model: ComposeModel, pauses: Pauses): Promise<string[]> {
  const found = new Set<string>();
  for (const [length, texts] of lookedAt(model)) {
    for (const text of texts) found.add(text);
    // More texts than this are refused when they are hidden.
    if (found.size > 2 * MOST_OF_AN_OWNER) break;
    await pauses.after(length);
  }
  return await notNames(found, model, pauses);
}

/** The texts that are not part of a name in a model, looked for with pauses. */
export async function notNames(
  texts: Iterable<string>,
  model: ComposeModel,
  pauses: Pauses,
): Promise<string[]> {
  const names = allNames(model);
  const kept: string[] = [];
  for (const each of texts) {
    if (isNoName(each, names)) kept.push(each);
    await pauses.after(names.length / NAMES_IN_A_LOOK);
  }
  return kept;
}

/** Each text of a model that may hold a secret, once: its length, and the parts to hide. */
function* lookedAt(model: ComposeModel): Generator<readonly [number, readonly string[]]> {
  const seen = new Set<string>();
  yield* collect(model, false);

  function* collect(value: unknown, isNamed: boolean): ReturnType<typeof lookedAt> {
    if (typeof value === "string") {
      yield* once("", value, () => embeddedSecrets(plainDollars(value)));
    } else if (Array.isArray(value)) {
      yield [0, optionValues(value).filter(worthHiding)];
      for (const each of value) yield* collect(each, false);
    } else if (isObject(value)) {
      for (const [key, inner] of Object.entries(value)) {
        if (isNamed && !isObject(inner) && inner !== null && soundsSecret(key)) {
          const text = String(inner);
          yield* once(key, text, () => namedSecretParts(key, plainDollars(text)));
        }
        yield* collect(inner, NAMED_VALUES.has(key));
      }
    }
  }

  function* once(name: string, text: string, look: () => string[]) {
    const key = `${name}=${text}`;
    if (seen.has(key)) return;
    seen.add(key);
    yield [text.length, look().filter(worthHiding)] as const;
  }
}

/**
 * All secrets of a release, as far as the release itself contains them, in small steps, some of which
 * find none, with what each finds: all of them together may take seconds, between which there is other
 * work. External ones may come twice.
 */
export function* stepsToSecrets(
  { model, invocation }: Pick<Release, "model" | "invocation">,
): Generator<readonly string[]> {
  for (const value of externalSecretsIn(invocation)) yield secretParts(value);
  for (const value of invocation.secrets ?? []) yield [value];
  const names = allNames(model);
  const seen = new Set<string>();
  const isNew = (text: string) => !seen.has(text) && seen.add(text) && isNoName(text, names);
  for (const variables of [invocation.environment, invocation.values ?? {}]) {
    for (const texts of lookedAtVariables(model, variables)) {
      for (const text of texts) yield [text].filter(isNew);
    }
  }
  for (const [, texts] of lookedAt(model)) {
    yield [];
    for (const text of texts) yield [text].filter(isNew);
  }
}

/** The values of a release's external secrets. */
export function externalSecretsIn(
  { environment, secretVariables = [] }: ComposeInvocation,
): string[] {
  return secretVariables.flatMap((name) => environment[name] ?? []);
}

/** The secrets among the variables of a model, by name and by use as a secret. */
export function secretsInVariables(
  model: ComposeModel,
  variables: Readonly<Record<string, string>>,
): string[] {
  return [...lookedAtVariables(model, variables)].flat();
}

/** The parts to hide of each variable. */
function* lookedAtVariables(model: ComposeModel, variables: Readonly<Record<string, string>>) {
  const asSecret = new Set(
    resourcesOf(model, "secrets").map(({ definition }) => textAt(definition, "environment")),
  );
  for (const [name, value] of Object.entries(variables)) {
    yield [
      ...(asSecret.has(name) ? secretParts(value) : namedSecretParts(name, value)),
      ...embeddedSecrets(value),
    ];
  }
}

/** Values like that of `--password x`; options in one word are found in the text itself. */
function optionValues(words: readonly unknown[]): string[] {
  return words.flatMap((word, index) => {
    const name = typeof word === "string" ? /^--?([\w-]+)$/.exec(word)?.[1] : undefined;
    const value = words[index + 1];
    if (name === undefined || typeof value !== "string" || value.startsWith("-")) return [];
    return optionSecrets(name, plainDollars(value));
  });
}

/**
 * Characters of the longest text that is looked for in names. Looking for longer ones takes minutes when
 * both say the same again and again.
 */
const LONGEST_PART = 200;

/** Characters of names that are searched in the time in which one of a text is looked at. */
const NAMES_IN_A_LOOK = 16;

function isNoName(text: string, names: string): boolean {
  return text.length > LONGEST_PART || !names.includes(text);
}

function allNames(model: ComposeModel): string {
  return [...new Set(namesIn(model))].join("\n");
}

function namesIn(model: ComposeModel): string[] {
  const services = servicesOf(model);
  const resources = (["networks", "volumes", "configs", "secrets"] as const).flatMap((kind) =>
    resourcesOf(model, kind).flatMap((
      { key, definition },
    ) => [key, ...namesAt(definition, ["name"])])
  );
  return [
    ...namesAt(model, ["name"]),
    ...Object.keys(services),
    ...Object.values(services).flatMap((each) =>
      namesAt(each, ["image", "container_name", "hostname"])
    ),
    ...resources,
  ];
}

function namesAt(value: unknown, keys: readonly string[]): string[] {
  if (!isObject(value)) return [];
  return keys.map((key) => textAt(value as JsonObject, key)).filter((each) => each !== "");
}
