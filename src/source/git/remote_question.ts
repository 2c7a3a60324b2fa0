import { StackwrightError } from "../../model/mod.ts";
import { lsRemoteArgs } from "./git_command.ts";
import { mirrorError, type MirrorParts, type MirrorRequest } from "./mirror_parts.ts";
import { isAbbreviatedId, nearestNames } from "./reference.ts";
import { parseRemoteRefs, type RemoteRefs } from "./remote_refs.ts";
import type { RepositoryUrl } from "./repository_url.ts";

/** The references that the remote has of some full names; all when there are none. */
export async function askRemote(
  parts: MirrorParts,
  url: RepositoryUrl,
  names: string[],
  signal: AbortSignal,
): Promise<RemoteRefs> {
  const ask = (shared: AbortSignal) => askAlone(parts, url, names, shared);
  return await parts.git.asking(url, names, ask, signal);
}

async function askAlone(
  parts: MirrorParts,
  url: RepositoryUrl,
  names: string[],
  signal: AbortSignal,
): Promise<RemoteRefs> {
  const answered = await parts.git.refs(url, names, signal);
  if (answered !== undefined) return answered;
  const patterns = names.flatMap((name) =>
    name.startsWith("refs/tags/") ? [name, `${name}^{}`] : [name]
  );
  const args = lsRemoteArgs(url.remote, patterns);
  const result = await parts.git.remote(url, { args }, signal);
  if (result.failure !== undefined) throw mirrorError(parts, result, "asking for the references");
  return parseRemoteRefs(new TextDecoder().decode(result.stdout));
}

/** The error for a missing reference, with what the remote has that is near. */
export async function missingReference(
  parts: MirrorParts,
  request: MirrorRequest,
  signal: AbortSignal,
): Promise<StackwrightError> {
  const { name } = parts;
  const refs = await askRemote(parts, request.url, [], signal);
  const names = [...refs.ids.keys()].filter((each) =>
    /^refs\/(?:heads|tags)\//.test(each) && !each.endsWith("^{}")
  );
  const asked = JSON.stringify(request.reference);
  const hint = names.length === 0
    ? "it is empty: push a branch first"
    : isAbbreviatedId(request.reference)
    ? "abbreviated commit ids are not supported: give all 40 digits"
    : near(request.reference, names);
  return new StackwrightError(
    "reference_not_found",
    `${name} has no reference ${asked}; ${hint}`,
  );
}

function near(wanted: string, names: readonly string[]): string {
  const found = nearestNames(wanted, names);
  if (found.length > 0) return `did you mean ${found.join(", ")}?`;
  const some = [...names].sort().slice(0, 5).join(", ");
  return `it has ${some}${names.length > 5 ? ` and ${names.length - 5} more` : ""}`;
}
