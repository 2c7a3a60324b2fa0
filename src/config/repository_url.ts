import type { Checked } from "./checked.ts";

const WEB = /^https?:\/\/[^\s/?#]+(?:[/?#]\S*)?$/i;
const SSH = /^ssh:\/\/[^\s/?#]+\/\S+$/i;

/** `user@host:path`, the form of scp. A leading `-` would be an option of git. */
const SCP = /^[A-Za-z0-9_][A-Za-z0-9_.+-]*@[A-Za-z0-9][^\s/:]*:(?!\/\/)\S+$/;
const FILE = /^file:\/\/\//i;

/** Most characters of a URL. */
export const LONGEST_URL = 4096;
/** Control characters, which could hide parts of a URL in a log. */
// deno-lint-ignore no-control-regex -- control characters are exactly what is refused
export const CONTROL = /[\u0000-\u001f\u007f]/;

/** The URLs that {@link checkRepositoryUrl} accepts, for schemas, where flags do not survive. */
export const REPOSITORY_PATTERN =
  "^(?:[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#]+(?:[/?#]\\S*)?|[Ss][Ss][Hh]://[^\\s/?#]+/\\S+|" +
  "[A-Za-z0-9_][A-Za-z0-9_.+-]*@[A-Za-z0-9][^\\s/:]*:(?!//)\\S+|(?:[Ff][Ii][Ll][Ee]://)?/\\S*)$";

/**
 * Checks the URL of a Git repository: `http(s)`, `ssh`, scp form, and, where
 * `allowLocal` says so, `file://` or an absolute path, which becomes `file://`. The answer never
 * repeats the URL, because URLs carry credentials.
 */
export function checkRepositoryUrl(text: string, allowLocal: boolean): Checked<string> {
  const url = text.trim();
  if (url.length > LONGEST_URL) {
    return { problem: `a repository URL cannot have more than ${LONGEST_URL} characters` };
  }
  if (CONTROL.test(url)) return { problem: "a repository URL cannot contain control characters" };
  if (url.startsWith("/") || FILE.test(url)) return checkLocal(url, allowLocal);
  if (WEB.test(url) || SSH.test(url) || SCP.test(url)) return { value: url };
  return {
    problem: "expected a repository URL: https://host/path, ssh://user@host/path, user@host:path" +
      (allowLocal ? ", file:///path or an absolute path" : ""),
  };
}

function checkLocal(url: string, allowLocal: boolean): Checked<string> {
  if (allowLocal) return { value: url.startsWith("/") ? `file://${url}` : url };
  return {
    problem: "a local repository is allowed in trusted configuration only, or with " +
      "ALLOW_LOCAL_REPOSITORY_URL=true",
  };
}

const OCI =
  /^(?:oci:\/\/)?((?:[A-Za-z0-9-]+\.)*[A-Za-z0-9-]+(?::\d+)?(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)+)(?::([\w][\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$/;

/** References of artifacts, as a pattern for schemas. */
export const ARTIFACT_PATTERN: string = OCI.source;

/**
 * Checks the reference of an OCI artifact, `registry/name:tag` or `registry/name@sha256:…`, with or
 * without `oci://`. `reference` is the tag, or the digest where there is no tag.
 */
export function checkArtifactUrl(text: string): Checked<{ url: string; reference: string }> {
  const url = text.trim();
  const [, name, tag, digest] = OCI.exec(url) ?? [];
  const reference = tag ?? digest;
  if (name === undefined || !hasRegistry(name)) {
    return { problem: "expected an artifact such as registry.example.com/team/app:v1" };
  }
  if (reference === undefined) {
    return { problem: "the artifact needs a tag or a digest: registry.example.com/team/app:v1" };
  }
  return { value: { url, reference } };
}

/** A first part with a dot or port is a host; `localhost` is one too. */
function hasRegistry(name: string): boolean {
  const host = name.slice(0, name.indexOf("/"));
  return /[.:]/.test(host) || host === "localhost";
}
