import { checkRepositoryUrl } from "../../config/mod.ts";
import { requestError, type SourceRequest } from "../../model/mod.ts";
import type { WebhookRepository } from "./event.ts";
import { malformed } from "./payload.ts";

/** The address from which a repository is cloned, and its name. */
export interface RepositoryAddress {
  readonly url: string;
  readonly identity: string;
}

/** Options for reaching a repository that a webhook names. All of them are asked once for a repository. */
export interface LocateOptions {
  /** Where SOURCE_URL_REWRITES lead instead of a URL; `undefined` when no rule applies to it. */
  readonly rewrite: (url: string) => string | undefined;
  /** Whether a payload may name a repository on this machine (ALLOW_LOCAL_REPOSITORY_URL). */
  readonly allowLocal: boolean;
  /** The identity of the repository at a URL. Throws `bad_request` when it is no repository URL. */
  readonly nameOf: (url: string) => string;
  /** Whether there is a key for an SSH URL. */
  readonly hasSshKey: (url: string) => boolean;
  /** Whether an HTTP and an SSH URL name one repository of one host. */
  readonly agree: (one: string, other: string) => boolean;
  /** The polled source that is the repository at one of the URLs: the operator said how to reach it. */
  readonly configured: (urls: readonly string[]) => SourceRequest | undefined;
}

/** Repositories whose addresses are remembered. */
const MOST_ADDRESSES = 1000;

/**
 * A function that finds the address of a repository that a webhook names. It remembers addresses, because
 * the settings do not change and a storm of webhooks is about few repositories.
 *
 * It throws `bad_request` when the repository has no URL, or one that is no good, and `forbidden` when
 * it is on this machine and neither a rewrite nor the settings allow that.
 */
export function createLocate(
  options: LocateOptions,
): (repository: WebhookRepository) => RepositoryAddress {
  const addresses = new Map<string, RepositoryAddress>();
  return (repository) => {
    const key = JSON.stringify([repository.cloneUrl, repository.sshUrl]);
    const known = addresses.get(key);
    if (known !== undefined) return known;
    const address = locate(repository, options);
    if (addresses.size === MOST_ADDRESSES) addresses.clear();
    addresses.set(key, address);
    return address;
  };
}

function locate(
  { cloneUrl, sshUrl }: WebhookRepository,
  options: LocateOptions,
): RepositoryAddress {
  const given = cloneUrl || sshUrl;
  if (given === "") throw malformed("the payload has no URL to clone the repository from");
  // The source itself follows the rules: the name of a repository is the one its host gives it.
  const rewritten = options.rewrite(given);
  const url = checkGiven(given, options.allowLocal || rewritten !== undefined);
  const identity = options.nameOf(url);
  const ssh = sshUrl !== "" && "value" in checkRepositoryUrl(sshUrl, false) ? [sshUrl] : [];
  const known = options.configured([url, ...rewritten === undefined ? ssh : []]);
  if (known !== undefined) {
    return { url: known.url, identity: known.identity ?? options.nameOf(known.url) };
  }
  const [bySsh] = ssh.filter(options.hasSshKey);
  if (rewritten === undefined && bySsh !== undefined) {
    // Whoever wrote the payload must not get one repository deployed in the name of another.
    const isOne = options.agree(url, bySsh);
    return { url: bySsh, identity: isOne ? identity : options.nameOf(bySsh) };
  }
  return { url, identity };
}

function checkGiven(url: string, allowLocal: boolean): string {
  const checked = checkRepositoryUrl(url, allowLocal);
  if ("value" in checked) return checked.value;
  if (/^(?:\/|\.{0,2}\/|file:|[a-z]:\\)/i.test(url)) {
    const detail = "it names a repository on this machine; see SOURCE_URL_REWRITES and " +
      "ALLOW_LOCAL_REPOSITORY_URL";
    throw requestError("webhook clone URL is not allowed", detail, "forbidden");
  }
  throw malformed(checked.problem);
}
