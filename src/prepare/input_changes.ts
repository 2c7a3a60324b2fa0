import type { InputChange, InputClosure, Revision } from "../model/mod.ts";
import { changedInputs } from "../plan/mod.ts";
import { configurationText } from "../compose/mod.ts";
import { contentIds } from "./content.ts";
import type { PrepareParts } from "./parts.ts";
import type { ResolvedTarget } from "./resolve_secrets.ts";
import { variablesOf } from "./variables.ts";

/** True for a release of an older version, which recorded no texts of the files that it decrypts. */
export function lacksTexts({ encrypted = [], recordsTexts = false }: InputClosure): boolean {
  return encrypted.length > 0 && !recordsTexts;
}

/** Changes of a target against a release's closure; `undefined` if only rendering can tell. */
export async function changesSince(
  parts: PrepareParts,
  target: ResolvedTarget,
  closure: InputClosure,
  signal: AbortSignal,
): Promise<InputChange[] | undefined> {
  if (!closure.complete || lacksTexts(closure)) return undefined;
  const { deployment, revision } = target;
  const text = configurationText(deployment, variablesOf(parts, target), parts.host.dataDir);
  const paths = Object.keys(closure.paths);
  const beside = Object.keys(closure.configurationPaths ?? {});
  const ids = async (at: Revision, wanted: readonly string[]) =>
    Object.fromEntries(await contentIds(parts.source, at, wanted, signal));
  return changedInputs(closure, {
    configuration: parts.key.digest(text),
    paths: await ids(revision, paths),
    configurationPaths: await ids(target.configuration, beside),
  });
}
