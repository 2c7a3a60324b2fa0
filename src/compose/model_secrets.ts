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

/** Maps whose names are their author's own, so that a name tells what the value is. */
export const NAMED_VALUES: ReadonlySet<string> = new Set([
  "annotations",
  "args",
  "driver_opts",
  "environment",
  "labels",
  "options",
]);

/**
 * The texts of a rendered model that nobody may read: values of what sounds secret, passwords of URLs
 * and of command lines, wherever they stand. Texts that are part of what the model calls its things
 * (services, images, volumes) are left out, since messages have to say those.
 */
export function secretsInModel(model: ComposeModel): string[] {
  const found = new Set<string>();
  for (const [, texts] of lookedAt(model)) for (const text of texts) found.add(text);
  return withoutNames([...found], model);
}

/** The same, with pauses for whatever else there is to do: a model may have megabytes of texts. */
export async function secretsInLargeModel(model: ComposeModel, pauses: Pauses): Promise<string[]> {
  const found = new Set<string>();
  for (const [length, texts] of lookedAt(model)) {
    for (const text of texts) found.add(text);
    // Whoever has so many is refused by who hides them.
    if (found.size > 2 * MOST_OF_AN_OWNER) break;
    await pauses.after(length);
  }
  return withoutNames([...found], model);
}

/** Each text of a model that may be or hold a secret, once: its length, and what is to be hidden of it. */
function* lookedAt(model: ComposeModel): Generator<readonly [number, readonly string[]]> {
  const seen = new Set<string>();
  yield* collect(model, false);

  function* collect(value: unknown, isNamed: boolean): ReturnType<typeof lookedAt> {
    if (typeof value === "string") yield* once("", value, () => embeddedSecrets(undoubled(value)));
    else if (Array.isArray(value)) {
      yield [0, optionValues(value).filter(worthHiding)];
      for (const each of value) yield* collect(each, false);
    } else if (isObject(value)) {
      for (const [key, inner] of Object.entries(value)) {
        if (isNamed && !isObject(inner) && inner !== null && soundsSecret(key)) {
          const text = String(inner);
          yield* once(key, text, () => namedSecretParts(key, undoubled(text)));
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

/** Everything of a release that nobody may read, as far as the release itself knows. */
export function secretsOfRelease(
  { model, invocation }: Pick<Release, "model" | "invocation">,
): string[] {
  return [
    ...new Set([
      ...externalSecretsIn(invocation).flatMap(secretParts),
      ...invocation.secrets ?? [],
      ...withoutNames(secretsInVariables(model, invocation.environment), model),
      ...withoutNames(secretsInVariables(model, invocation.values ?? {}), model),
      ...secretsInModel(model),
    ]),
  ];
}

/** The values of a release's external secrets. */
export function externalSecretsIn(
  { environment, secretVariables = [] }: ComposeInvocation,
): string[] {
  return secretVariables.flatMap((name) => environment[name] ?? []);
}

/** The secrets among the variables that a model is rendered with: by name, and by their use as one. */
export function secretsInVariables(
  model: ComposeModel,
  variables: Readonly<Record<string, string>>,
): string[] {
  const asSecret = new Set(
    resourcesOf(model, "secrets").map(({ definition }) => textAt(definition, "environment")),
  );
  return Object.entries(variables).flatMap(([name, value]) => [
    ...(asSecret.has(name) ? secretParts(value) : namedSecretParts(name, value)),
    ...embeddedSecrets(value),
  ]);
}

/** `--password x` of a command line; what is one word is found in the text itself. */
function optionValues(words: readonly unknown[]): string[] {
  return words.flatMap((word, index) => {
    const name = typeof word === "string" ? /^--?([\w-]+)$/.exec(word)?.[1] : undefined;
    const value = words[index + 1];
    if (name === undefined || typeof value !== "string" || value.startsWith("-")) return [];
    return optionSecrets(name, undoubled(value));
  });
}

/** Compose doubles the dollar when it prints a value. */
function undoubled(text: string): string {
  return text.replaceAll("$$", "$");
}

/** Texts but those that are a part of what the model calls its things. */
function withoutNames(texts: readonly string[], model: ComposeModel): string[] {
  const names = namesIn(model).join("\n");
  return texts.filter((each) => !names.includes(each));
}

/** What a model calls its things. */
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
