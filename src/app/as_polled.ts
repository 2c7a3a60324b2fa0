import type { SourceRequest } from "../model/mod.ts";
import type { Settings } from "../settings/mod.ts";
import {
  createUrlRewriter,
  sourceLocation,
  sourceNameOf,
  surelySameRepository,
} from "../source/mod.ts";
import type { Log } from "../system/mod.ts";

/**
 * What a person named, under the name by which the operator's polls reach it: where `SOURCE_URL_REWRITES`
 * lead one there, its stacks are the polled repository's, as the service has it. By the name of its
 * place it would be a stranger to its own stacks.
 */
export function asPolled<
  T extends { readonly url: string; readonly identity?: string | undefined },
>(
  input: T,
  { polls, git: { urlRewrites } }: Pick<Settings, "polls" | "git">,
  log: Log,
): T {
  const reached = pollsOf(polls, createUrlRewriter(urlRewrites), input.url);
  const own = input.identity ?? input.url;
  if (reached.some(({ identity, url }) => surelySameRepository(identity ?? url, own))) return input;
  const polled = onlyOne(reached);
  if (polled === undefined) return input;
  const name = sourceNameOf(polled);
  // Not its URL, which may carry credentials.
  const place = sourceLocation("git", input.url).name;
  log.info(`${place} is polled as ${name} (SOURCE_URL_REWRITES): that one's stacks are meant`);
  return { ...input, identity: name };
}

/**
 * The poll of a place that `SOURCE_URL_REWRITES` lead to, where only one repository is polled there;
 * `undefined` for an address that they lead elsewhere.
 */
export function pollThatReaches(
  polls: Settings["polls"],
  rewrite: Rewrite,
  place: string,
): SourceRequest | undefined {
  return rewrite(place) === undefined ? onlyOne(pollsOf(polls, rewrite, place)) : undefined;
}

type Rewrite = ReturnType<typeof createUrlRewriter>;

/** The polls that fetch from a place. */
function pollsOf(polls: Settings["polls"], rewrite: Rewrite, place: string): SourceRequest[] {
  return polls.map(({ request }) => request).filter(({ kind, url }) =>
    kind === "git" && surelySameRepository(rewrite(url) ?? url, place)
  );
}

/** The first of polls that are all of one repository. */
function onlyOne(polls: readonly SourceRequest[]): SourceRequest | undefined {
  return new Set(polls.map(sourceNameOf)).size === 1 ? polls[0] : undefined;
}
