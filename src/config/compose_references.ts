import { dirname, join } from "node:path/posix";
import { isMap, listOf } from "./compose_paths.ts";
import { keyGivenTwice, parseYaml, tooMuchYaml } from "./bounded_yaml.ts";

/** References by which a compose file makes compose read more, as its author wrote them. */
export interface ComposeReferences {
  /** Further compose files, relative to the directory of this one: `include` and `extends.file`. */
  readonly composeFiles: readonly string[];
  /** Other files: `env_file`, `label_file`, the `env_file` of an include or the `.env` beside it. */
  readonly files: readonly string[];
  /** Whether it may read any file of the source: broken YAML, an include with a base of its own. */
  readonly wide: boolean;
  /** Whether it reads something outside the source: remote includes, host paths, paths with variables. */
  readonly outside: boolean;
}

const REMOTE = /^(?:[a-z][a-z0-9+.-]*:\/\/|git@|oci:)/i;

/**
 * Finds the files that rendering a compose file reads. It judges nothing: a text that is not valid
 * is `wide`, and compose will say what is wrong with it.
 */
export function composeReferences(text: string): ComposeReferences {
  const found = {
    composeFiles: new Set<string>(),
    files: new Set<string>(),
    wide: false,
    outside: false,
  };
  const note = (into: Set<string>, value: unknown) => {
    if (typeof value !== "string") return;
    if (value.includes("$") || value.startsWith("/") || REMOTE.test(value)) found.outside = true;
    else into.add(value);
  };
  for (const document of documentsOf(text)) {
    if (!isMap(document)) {
      found.wide = true;
      continue;
    }
    for (const include of listOf(document["include"])) {
      const { path, env_file } = isMap(include) ? include : { path: include, env_file: undefined };
      // A project directory of its own moves the base of every path inside: left to compose.
      if (isMap(include) && include["project_directory"] !== undefined) found.wide = true;
      const included = listOf(path);
      for (const each of included) note(found.composeFiles, each);
      for (const each of listOf(env_file ?? besideIncluded(included))) note(found.files, each);
      // The first file's directory is the base of them all.
      if (new Set(included.map((each) => dirname(String(each)))).size > 1) found.wide = true;
    }
    const services = isMap(document["services"]) ? Object.values(document["services"]) : [];
    for (const service of services.filter(isMap)) {
      if (isMap(service["extends"])) note(found.composeFiles, service["extends"]["file"]);
      for (const each of [...listOf(service["env_file"]), ...listOf(service["label_file"])]) {
        note(found.files, isMap(each) ? each["path"] : each);
      }
    }
  }
  const { wide, outside } = found;
  return { composeFiles: [...found.composeFiles], files: [...found.files], wide, outside };
}

function documentsOf(text: string): unknown[] {
  if (tooMuchYaml(text) !== undefined) return [undefined];
  try {
    return parseYaml(text, { merge: true }).map((document) => {
      const isBroken = document.errors.length > 0 || keyGivenTwice(document) !== undefined;
      return isBroken ? undefined : document.toJS();
    });
  } catch {
    return [undefined];
  }
}

/** The dotenv file that compose looks for by itself when an include names none. */
function besideIncluded(included: readonly unknown[]): string | undefined {
  const [first] = included;
  return typeof first === "string" && !REMOTE.test(first)
    ? join(dirname(first), ".env")
    : undefined;
}
