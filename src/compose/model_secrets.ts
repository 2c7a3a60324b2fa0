import type { ComposeInvocation, ComposeModel, Release } from "../model/mod.ts";
import {
  embeddedSecrets,
  namedSecretParts,
  secretParts,
  soundsSecret,
  worthHiding,
} from "../system/mod.ts";
import { isObject, type JsonObject, objectAt, servicesOf, textAt } from "./model.ts";

/** Maps whose names are their author's own, so that a name tells what the value is. */
export const NAMED_VALUES: ReadonlySet<string> = new Set([
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
  collect(model, false);
  return withoutNames([...found], model);

  function collect(value: unknown, isNamed: boolean): void {
    if (typeof value === "string") return add(embeddedSecrets(undoubled(value)));
    if (Array.isArray(value)) {
      add(optionValues(value));
      return value.forEach((each) => collect(each, false));
    }
    if (!isObject(value)) return;
    for (const [key, inner] of Object.entries(value)) {
      if (isNamed && !isObject(inner) && inner !== null) {
        add(namedSecretParts(key, undoubled(String(inner))));
      }
      collect(inner, NAMED_VALUES.has(key));
    }
  }

  function add(texts: readonly string[]): void {
    for (const text of texts) if (worthHiding(text)) found.add(text);
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

/** Which of the variables that a model is rendered with are secrets: by name, and by their use as one. */
export function secretsInVariables(
  model: ComposeModel,
  variables: Readonly<Record<string, string>>,
): string[] {
  const asSecret = new Set(
    Object.values(objectAt(model, "secrets")).flatMap((secret) =>
      isObject(secret) ? [textAt(secret, "environment")] : []
    ),
  );
  return Object.entries(variables).flatMap(([name, value]) => [
    ...(asSecret.has(name) ? secretParts(value) : namedSecretParts(name, value)),
    ...embeddedSecrets(value),
  ]);
}

/** `--password x` of a command line; `--password=x` is found in the text itself. */
function optionValues(words: readonly unknown[]): string[] {
  return words.flatMap((word, index) => {
    const name = typeof word === "string" ? /^--?([\w-]+)$/.exec(word)?.[1] : undefined;
    const value = words[index + 1];
    if (name === undefined || typeof value !== "string" || value.startsWith("-")) return [];
    return name.length > 1 && soundsSecret(name) ? [undoubled(value)] : [];
  });
}

/** Compose doubles the dollar when it prints a value. */
function undoubled(text: string): string {
  return text.replaceAll("$$", "$");
}

/** Texts but those that are a part of what the model calls its things. */
function withoutNames(texts: readonly string[], model: ComposeModel): string[] {
  const names = namesIn(model);
  return texts.filter((each) => !names.some((name) => name.includes(each)));
}

/** What a model calls its things. */
function namesIn(model: ComposeModel): string[] {
  const services = servicesOf(model);
  const resources = ["networks", "volumes", "configs", "secrets"].flatMap((kind) =>
    Object.entries(objectAt(model, kind)).flatMap((
      [key, each],
    ) => [key, ...namesAt(each, ["name"])])
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
