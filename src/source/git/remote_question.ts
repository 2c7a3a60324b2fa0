import {
  errors,
  fewOf,
  isStackwrightError,
  type PollRound,
  type StackwrightError,
  utf8,
} from "../../model/mod.ts";
import { lsRemoteArgs } from "./git_command.ts";
import { mirrorError, type MirrorParts, type MirrorRequest } from "./mirror_parts.ts";
import {
  isAbbreviatedId,
  isReference,
  namesOf,
  nearestNames,
  parseReference,
} from "./reference.ts";
import { parseRemoteRefs, type RemoteRefs } from "./remote_refs.ts";
import type { RepositoryUrl } from "./repository_url.ts";

/** Bytes of a list of references that are read: more than a hundred thousand names. */
export const MOST_BYTES = 8 * 1024 * 1024;
/** Most references of one round in one request; requests for further ones are made singly. */
const MOST_REFERENCES = 100;

/** Most names that a missing one is compared with: of more, nobody reads which ones are near. */
const MOST_NAMES = 10_000;

/** References of the remote with these full names, and maybe others. */
export async function askRemote(
  parts: MirrorParts,
  { url, round }: Pick<MirrorRequest, "url" | "round">,
  names: readonly string[],
  signal: AbortSignal,
): Promise<RemoteRefs> {
  const wanted = round === undefined ? names : namesOfRound(round, names);
  const ask = (shared: AbortSignal) => askAlone(parts, url, wanted, shared);
  return await parts.git.asking({ url, names: wanted, round }, ask, signal);
}

/** The names that a whole round asks for, if `names` are among them; else `names` alone. */
function namesOfRound(round: PollRound, names: readonly string[]): readonly string[] {
  const all = new Set<string>();
  for (const each of round.references.slice(0, MOST_REFERENCES)) {
    if (isReference(each)) { for (const name of namesOf(parseReference(each))) all.add(name); }
  }
  return names.length > 0 && names.every((each) => all.has(each)) ? [...all] : names;
}

/** References of these names, without anybody else's question; all for an empty list. */
async function askAlone(
  parts: MirrorParts,
  url: RepositoryUrl,
  names: readonly string[],
  signal: AbortSignal,
): Promise<RemoteRefs> {
  const answered = await parts.git.refs(url, names, signal);
  if (answered !== undefined) return answered;
  const patterns = names.flatMap((name) =>
    name.startsWith("refs/tags/") ? [name, `${name}^{}`] : [name]
  );
  const args = lsRemoteArgs(url.remote, patterns);
  const result = await parts.git.remote(url, { args, mostBytes: MOST_BYTES }, signal);
  if (result.failure !== undefined) throw mirrorError(parts, result, "asking for the references");
  return parseRemoteRefs(utf8(result.stdout));
}

/** The error for a missing reference; suggests similar names that the remote has. */
export async function missingReference(
  parts: MirrorParts,
  request: MirrorRequest,
  signal: AbortSignal,
): Promise<StackwrightError> {
  const { name, git } = parts;
  const { url, reference, round } = request;
  const make = async (shared: AbortSignal) => {
    const list = (all: AbortSignal) => listed(parts, url, all);
    const names = await git.listing({ url, round }, list, shared);
    if (names === undefined) return "it has too many to look for one that is near";
    return await git.turns.by(url.remote).take(() => hintAt(request, names), shared);
  };
  // Whoever waits for the same does nothing after it: there may be hundreds in one turn.
  const hint = await git.hinting({ url, names: [reference], round }, make, signal);
  return errors.reference_not_found(
    `${name} has no reference ${JSON.stringify(reference)}; ${hint}`,
  );
}

/** The names of all branches and tags of a remote; `undefined` for too many. */
async function listed(
  parts: MirrorParts,
  url: RepositoryUrl,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  try {
    const { ids } = await askAlone(parts, url, [], signal);
    const names = [...ids.keys()].filter((each) =>
      /^refs\/(?:heads|tags)\//.test(each) && !each.endsWith("^{}")
    );
    return names.length > MOST_NAMES ? undefined : names.sort();
  } catch (error) {
    if (!isStackwrightError(error, "payload_too_large")) throw error;
    return undefined;
  }
}

/** Advice for the error: what to do when a remote with these references, sorted, lacks the wanted one. */
function hintAt({ reference, url }: MirrorRequest, names: readonly string[]): string {
  if (names.length === 0) {
    if (url.scheme === "file") {
      return "it is empty: make a commit with git commit, or push a branch";
    }
    return "it is empty, or what answers is no Git server, as some login pages look to git: push a " +
      "branch first, or check its address";
  }
  return isAbbreviatedId(reference)
    ? "abbreviated commit ids are not supported: give all 40 digits"
    : near(reference, names);
}

function near(wanted: string, names: readonly string[]): string {
  const found = nearestNames(wanted, names);
  return found.length > 0 ? `did you mean ${found.join(", ")}?` : `it has ${fewOf(names, 5)}`;
}
