/**
 * Where desired state comes from: Git mirrors that are read by object id, and immutable trees on
 * disk that are made only for what is rendered. `git_source.ts` is the Git source; `repository_url.ts`
 * and `source_name.ts` say which URLs are accepted and which of them are the same repository.
 */
export * from "./credentials.ts";
export {
  createGitSource,
  type GitSourceOptions,
  type GitSourceParts,
  type GitSourceWithTrees,
} from "./git_source.ts";
export { createGitHubTokens, type GitHubTokens } from "./github_tokens.ts";
export { createLayout, type GitLayout } from "./layout.ts";
export { inlineDeploymentsFor } from "./inline_deployments.ts";
export { parseReference, type Reference } from "./reference.ts";
export { parseRepositoryUrl, type RepositoryScheme, type RepositoryUrl } from "./repository_url.ts";
export * from "./source.ts";
export type { StoredTree, TreeStore } from "./tree_store.ts";
export { sameHostAndPath, sameRepository, sourceLocation } from "./source_name.ts";
export { createUrlRewriter, rewriteHosts, rewriteUrl, type UrlRewrites } from "./url_rewrites.ts";
