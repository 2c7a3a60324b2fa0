import { join } from "node:path";
import type { ObjectKind } from "../../docker/swarm.ts";
import { type ComposeModel, errors, own } from "../../model/mod.ts";
import { textAt } from "../../compose/mod.ts";
import type { Files } from "../../system/mod.ts";
import { LONGEST_CONTENT, tooLong } from "./stack_objects.ts";
import { resourcesOf } from "../../compose/resources.ts";

interface ContentSources {
  readonly files: Pick<Files, "readPlain" | "realPath" | "stat">;
  /** Directory of the release's tree. */
  readonly tree: string;
  /** Directory of the stack in the model's paths, which holds `current` and `live`. */
  readonly stackDirectory: string;
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * The bytes of every config and secret of a model with plain dollars, except external ones. Files
 * of the repository are read from the release's own tree, independent of the link `current`.
 *
 * Throws `config_invalid` for a missing file or variable, and `unsupported`, before reading, for a
 * content that is too large for a swarm.
 */
export async function readContents(
  model: ComposeModel,
  sources: ContentSources,
): Promise<(kind: ObjectKind, key: string) => Uint8Array> {
  const contents = new Map<string, Uint8Array>();
  for (const kind of ["configs", "secrets"] as const) {
    for (const { key, external, definition } of resourcesOf(model, kind)) {
      if (external) continue;
      const parts = { ...sources, most: LONGEST_CONTENT[kind] };
      contents.set(`${kind} ${key}`, await contentOf(`${kind}.${key}`, definition, parts));
    }
  }
  return (kind, key) => contents.get(`${kind} ${key}`) ?? new Uint8Array();
}

async function contentOf(
  name: string,
  definition: { readonly [key: string]: unknown },
  { files, tree, stackDirectory, variables, most }: ContentSources & { readonly most: number },
): Promise<Uint8Array> {
  const missing = (what: string) => errors.config_invalid(`${name}: ${what}. Nothing was changed`);
  const { content } = definition;
  if (typeof content === "string") return new TextEncoder().encode(content);
  const variable = textAt(definition, "environment");
  if (variable !== "") {
    const value = own(variables, variable);
    if (value === undefined) throw missing(`the variable ${variable} is not set`);
    return new TextEncoder().encode(value);
  }
  const file = textAt(definition, "file");
  const inside = [`${stackDirectory}/current/`, `${stackDirectory}/live/`]
    .find((place) => file.startsWith(place));
  const path = inside === undefined ? file : join(tree, file.slice(inside.length));
  const real = await files.realPath(path);
  const size = real === undefined ? 0 : (await files.stat(real))?.size ?? 0;
  if (size > most) throw tooLong(name, size, most);
  const read = real === undefined ? undefined : await files.readPlain(real, most);
  if (read === undefined) throw missing(`there is no file ${file}`);
  return read.data;
}
