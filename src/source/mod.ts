/**
 * The sources of desired state: Git mirrors that are read by object id, and immutable trees on disk
 * that are made only for rendered targets. `source_by_kind.ts` chooses among kinds, of which only
 * `git_source.ts` exists; `repository_url.ts` and `source_name.ts` say which URLs are accepted and which
 * of them are the same repository.
 */
export * from "./git/credentials.ts";
export { createGitSource, type GitSourceWithTrees } from "./git_source.ts";
export { type GitSourceOptions } from "./git_source_options.ts";
export { configEnvironment } from "./git/git_command.ts";
export { createGitHubTokens } from "./git/github_tokens.ts";
export { compactMirrors, mirrorsOf } from "./compact_mirrors.ts";
export type { MirrorStore } from "./git/mirror_store.ts";
export type { StoredMirror } from "./git/unused_mirrors.ts";
export { fullReference, inlineDeploymentsFor, requestsFor } from "./inline_deployments.ts";
export { parseReference } from "./git/reference.ts";
export { parseRepositoryUrl, type RepositoryScheme } from "./git/repository_url.ts";
export * from "./source.ts";
export { lendingSource } from "./lending_source.ts";
export { NewestCommits } from "./newest_commits.ts";
export { tooLargeFile } from "./too_large_file.ts";
export { sourceByKind } from "./source_by_kind.ts";
export type { TreeStore } from "./trees/tree_store.ts";
export {
  ofRepository,
  sameHostAndPath,
  sourceKey,
  sourceLocation,
  sourceNameOf,
  surelySameRepository,
  writtenName,
} from "./source_name.ts";
export { createUrlRewriter, reachedAs, rewriteHosts, rewriteUrl } from "./git/url_rewrites.ts";
