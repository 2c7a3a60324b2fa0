import type { ComposeProject } from "../deploy/mod.ts";
import { resourcesOf, textAt, usedOf } from "../compose/mod.ts";
import { type ComposeInvocation, type ComposeModel, errors, type Release } from "../model/mod.ts";
import { interpolate } from "./interpolate.ts";
import { requireShort } from "./long_values.ts";
import type { PrepareParts } from "./parts.ts";
import { envFilesIn, type Trees } from "./render_project.ts";

interface ValueSources {
  readonly model: ComposeModel;
  readonly project: ComposeProject;
  readonly variables: Readonly<Record<string, string>>;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Values from dotenv files for configs and secrets of a model: compose gets these files only for
 * rendering. Costs nothing without such configs and secrets.
 *
 * Throws `config_invalid` for a used one without its variable, and for a value too long for compose.
 */
export async function modelValues(
  parts: Pick<PrepareParts, "host">,
  { model, project, variables }: ValueSources,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const wanted = wantedVariables(model).filter((each) => !Object.hasOwn(variables, each.name));
  const names = [...new Set(wanted.map((each) => each.name))].filter((name) => NAME.test(name));
  const texts = names.flatMap((name) => [`\${${name}+set}`, `\${${name}-}`]);
  const found = names.length === 0
    ? []
    : await interpolate(parts, { project, variables }, texts, signal);
  const values = Object.fromEntries(
    names.flatMap((name, index) =>
      found[2 * index] === "set" ? [[name, found[2 * index + 1] ?? ""]] : []
    ),
  );
  const missing = wanted.find((each) => each.isUsed && !Object.hasOwn(values, each.name));
  if (missing !== undefined) {
    throw errors.config_invalid(
      `${missing.what} takes its value from the variable ${missing.name}, which is not set: set it ` +
        "in environment, in a file of env_files or as an external secret",
    );
  }
  for (const { what, name } of wantedVariables(model)) {
    requireShort(what, name, variables[name] ?? values[name] ?? "");
  }
  return values;
}

/** Variables for acting on a release: those that its configs and secrets may name. */
export function actingVariables(invocation: ComposeInvocation): Record<string, string> {
  return { ...invocation.values, ...invocation.environment };
}

/** A recorded release with the values it needs; `trees` have its files decrypted. */
export async function withValues(
  parts: Pick<PrepareParts, "host">,
  release: Release,
  trees: Trees,
  signal: AbortSignal,
): Promise<Release> {
  const { key, model, invocation } = release;
  if (invocation.values !== undefined) return release;
  const project = {
    name: key.name,
    directory: trees.tree,
    files: [],
    envFiles: envFilesIn(trees, invocation),
    profiles: [],
  };
  const sources = { model, project, variables: invocation.environment };
  const values = await modelValues(parts, sources, signal);
  return { ...release, invocation: { ...invocation, values } };
}

function wantedVariables(model: ComposeModel) {
  return (["configs", "secrets"] as const).flatMap((kind) => {
    const inUse = usedOf(model, kind);
    return resourcesOf(model, kind).flatMap(({ key, definition }) => {
      const name = textAt(definition, "environment");
      return name === "" ? [] : [{ what: `${kind}.${key}`, name, isUsed: inUse.has(key) }];
    });
  });
}
