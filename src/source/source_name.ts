import {
  errors,
  requestKey,
  type SourceKind,
  type SourceLocation,
  type SourceRequest,
  withoutEnd,
} from "../model/mod.ts";
import { parseRepositoryUrl, type RepositoryUrl, withoutSuffix } from "./git/repository_url.ts";

/** First part of the name of a repository on this machine. */
const LOCAL = "local";

/**
 * SSH accounts of forges, where a path names the same repository as over HTTP. For any other account a
 * path may start at its home directory.
 */
const FORGE_USERS: ReadonlySet<string> = new Set(["", "git", "gitea", "forgejo", "gogs"]);

/**
 * The place a URL names, with the identity of its source: `host/owner/repo` for Git, whichever form
 * the URL has, and `user@host/path` over SSH for an account that is no forge's;
 * `local/<absolute path>` for a repository on this machine; `registry/repository`, without tag and
 * digest, for an OCI artifact.
 *
 * Throws `bad_request` when the URL is not one of the accepted forms.
 */
export function sourceLocation(kind: SourceKind, url: string): SourceLocation {
  const name = kind === "git" ? repositoryName(parseRepositoryUrl(url)) : artifactName(url);
  return { kind, url, name };
}

/** The name of a request's source: the configured one, or else that of its URL. Throws `bad_request` for a bad URL. */
export function sourceNameOf(
  { kind, url, identity }: Pick<SourceRequest, "kind" | "url" | "identity">,
): string {
  return identity ?? sourceLocation(kind, url).name;
}

/** The {@link requestKey} without credentials; `undefined` for a URL that leads to no source. */
export function sourceKey(request: SourceRequest): string | undefined {
  try {
    return requestKey(request, sourceLocation(request.kind, request.url).name);
  } catch {
    return undefined;
  }
}

/** The name of the source a parsed URL leads to. Throws `bad_request` for a host called `local`. */
function repositoryName(url: RepositoryUrl): string {
  if (url.scheme === "file") return `${LOCAL}${url.path}`;
  if (url.host === LOCAL) {
    // It would share the mirror of a repository on this machine, which the author may not read.
    throw errors.bad_request(
      `the host name "${LOCAL}" cannot be used: it stands for repositories on this machine`,
    );
  }
  return `${accountOf(url)}${url.host}${portOf(url)}/${url.path}`;
}

/** The port in a source name; `_0` keeps a host called `gitea_3000` apart from port 3000 of `gitea`. */
function portOf({ host, port }: RepositoryUrl): string {
  if (port !== "") return `_${port}`;
  return /_\d+$/.test(host) ? "_0" : "";
}

/** The account in a source name; encoded, so that it can neither look like a host nor leave a directory. */
function accountOf({ scheme, user }: RepositoryUrl): string {
  return scheme !== "ssh" || FORGE_USERS.has(user) ? "" : `${encodeURIComponent(user)}@`;
}

function artifactName(url: string): string {
  const bare = url.trim().replace(/^oci:\/\//i, "").replace(/@[^@]*$/, "").replace(/:[^:/]*$/, "");
  const [host = "", ...rest] = bare.split("/");
  return repositoryName(parseRepositoryUrl(`https://${host}/${rest.join("/")}`));
}

/**
 * True when an HTTP and an SSH URL have the same host and path, by the same account, whatever their
 * ports: a forge has both ways to one repository. False when one of them is no repository URL.
 */
export function sameHostAndPath(one: string, other: string): boolean {
  try {
    const [a, b] = [parseRepositoryUrl(one), parseRepositoryUrl(other)];
    return [a, b].every(({ scheme }) => scheme !== "file") && accountOf(a) === accountOf(b) &&
      a.host === b.host && a.path === b.path;
  } catch {
    return false;
  }
}

/** Hosts on which letter case in a path does not tell repositories apart. */
const CASELESS = /^(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org)\//;

/**
 * True when two repository URLs lead to the same repository: scheme, credentials but the account of
 * {@link sourceLocation}, `.git` and letter case do not count. A text that is no URL, such as
 * `host/owner/repo`, is compared as a name.
 */
export function sameRepository(one: string, other: string): boolean {
  return nameIn(one).toLowerCase() === nameIn(other).toLowerCase();
}

/**
 * As {@link sameRepository}, for questions of rights: letter case counts on all hosts but those
 * where it is known to make no difference.
 */
export function surelySameRepository(one: string, other: string): boolean {
  const [a, b] = [one, other].map(nameIn).map((name) =>
    CASELESS.test(name.toLowerCase()) ? name.toLowerCase() : name
  );
  return a === b;
}

/**
 * Those of `all` that are one of the repositories `wanted`, by URLs or names: in their letter case, or
 * where none is, in another, as forges may take it, if only one repository is named alike.
 */
export function ofRepository<T>(
  all: readonly T[],
  namesOf: (each: T) => readonly string[],
  wanted: readonly string[],
): T[] {
  const by = (same: typeof sameRepository) =>
    all.filter((each) => namesOf(each).some((own) => wanted.some((name) => same(own, name))));
  const surely = by(surelySameRepository);
  if (surely.length > 0) return surely;
  const alike = by(sameRepository);
  const [first = ""] = alike.map((each) => namesOf(each)[0] ?? "");
  const isOne = alike.every((each) => surelySameRepository(namesOf(each)[0] ?? "", first));
  return isOne ? alike : [];
}

function nameIn(text: string): string {
  try {
    return repositoryName(parseRepositoryUrl(text));
  } catch {
    return writtenName(withoutEnd(text.trim(), "/"));
  }
}

/** The name of a source that somebody may have written with `.git`, which only names on this machine keep. */
export function writtenName(text: string): string {
  return text.startsWith(`${LOCAL}/`) ? text : withoutSuffix(text);
}
