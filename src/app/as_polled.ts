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
  const rewrite = createUrlRewriter(urlRewrites);
  const reached = polls.map(({ request }) => request).filter(({ kind, url }) =>
    kind === "git" && surelySameRepository(rewrite(url) ?? url, input.url)
  );
  const own = input.identity ?? input.url;
  if (reached.some(({ identity, url }) => surelySameRepository(identity ?? url, own))) return input;
  const [name, ...others] = new Set(reached.map(sourceNameOf));
  if (name === undefined || others.length > 0) return input;
  // Not its URL, which may carry credentials.
  const place = sourceLocation("git", input.url).name;
  log.info(`${place} is polled as ${name} (SOURCE_URL_REWRITES): that one's stacks are meant`);
  return { ...input, identity: name };
}
