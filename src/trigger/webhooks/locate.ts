import { checkRepositoryUrl } from "../../config/mod.ts";
import { requestError, type SourceRequest } from "../../model/mod.ts";
import type { WebhookRepository } from "./event.ts";
import { malformed } from "./payload.ts";

/** The address to clone a repository from, and its identity. */
export interface RepositoryAddress {
  readonly url: string;
  readonly identity: string;
}

/** Options for locating repositories of webhooks. Each is used once for a repository. */
export interface LocateOptions {
  /** The URL by SOURCE_URL_REWRITES; `undefined` when no rule applies. */
  readonly rewrite: (url: string) => string | undefined;
  /** Whether a payload may name a repository on this machine (ALLOW_LOCAL_REPOSITORY_URL). */
  readonly allowLocal: boolean;
  /** The identity of the repository at a URL. Throws `bad_request` when it is no repository URL. */
  readonly nameOf: (url: string) => string;
  /** Whether a key is configured for an SSH URL. */
  readonly hasSshKey: (url: string) => boolean;
  /** Whether an HTTP and an SSH URL name one repository of one host. */
  readonly agree: (one: string, other: string) => boolean;
  /** The polled source at one of the URLs: the operator's own way to reach the repository. */
  readonly configured: (urls: readonly string[]) => SourceRequest | undefined;
}

const MOST_ADDRESSES = 1000;

/**
 * Makes a function that finds the address of a webhook's repository. It remembers addresses:
 * settings do not change, and bursts of webhooks are about few repositories.
 *
 * It throws `bad_request` when the repository has no URL or an invalid one, and `forbidden` when it
 * is on this machine and neither a rewrite nor the settings allow that.
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
  // Fetching applies the rewrite itself; the repository's identity is by the URL of its host.
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
    // A forged payload must not get one repository deployed under the identity of another.
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
