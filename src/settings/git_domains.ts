import * as z from "zod";
import { StackwrightError } from "../model/mod.ts";
import {
  decode,
  field,
  flag,
  invalidInput,
  needed,
  parseLocatedYaml,
  positionAt,
  ProblemSink,
  readList,
  type Report,
  scalar,
} from "../config/mod.ts";

/** Credentials of a GitHub App. */
export interface AppCredentials {
  readonly id: string;
  readonly privateKey: string;
  /** Empty means it is looked up for each repository. */
  readonly installationId: string;
}

/** Credentials for the Git hosts of some domains. */
export interface GitDomain {
  /** Lower-case host names; `*.example.com` stands for every host below, not for itself. */
  readonly domains: readonly string[];
  readonly accessToken: string | undefined;
  readonly accessTokenUser: string;
  readonly sshPrivateKey: string | undefined;
  readonly sshPrivateKeyPassphrase: string | undefined;
  readonly app: AppCredentials | undefined;
  readonly skipTlsVerification: boolean;
}

const domainSchema = z.strictObject({
  domains: needed(z.array(scalar()), "Host names, or *.suffix."),
  git_access_token: field(scalar(), "Token for HTTP."),
  git_access_token_user: field(scalar(), "User name that goes with the token.", "oauth2"),
  ssh_private_key: field(scalar(), "Private key for SSH."),
  ssh_private_key_passphrase: field(scalar(), "Passphrase of the private key."),
  github_app_id: field(scalar(), "Id of a GitHub App."),
  github_app_private_key: field(scalar(), "Private key of the GitHub App."),
  github_app_installation_id: field(scalar(), "Its installation; looked up when absent."),
  insecure_skip_tls: field(flag(), "Accept any certificate of these hosts.", false),
});

type WrittenDomain = z.output<typeof domainSchema>;

const HOST = /^(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d+)?$/;

/**
 * Reads GIT_AUTH_DOMAINS, a YAML list of credentials by domain. An entry has an App or a token and
 * a key, not both; every domain belongs to one entry.
 *
 * Throws `config_invalid` with every problem; messages never repeat a credential.
 */
export function parseGitDomains(text: string, file: string): readonly GitDomain[] {
  const list = { text, file, what: "the list", of: "entries with domains and credentials" };
  const seen = new Set<string>();
  const domains = readList(list, (item, _index, sink) => {
    const { value } = decode(domainSchema, item, sink);
    const report: Report = (path, message) => sink.add(positionAt(item, path), path, message);
    return sink.clean ? [gitDomain(value, seen, report)] : [];
  });
  return domains.flat();
}

function gitDomain(written: WrittenDomain, seen: Set<string>, report: Report): GitDomain {
  const domains = written.domains.map((domain) => domain.trim().toLowerCase());
  if (domains.length === 0) report("domains", "expected at least one domain");
  for (const [index, domain] of domains.entries()) {
    if (!HOST.test(domain)) report(`domains[${index}]`, "expected a host name or *.suffix");
    else if (seen.has(domain)) report(`domains[${index}]`, `${domain} is in the list twice`);
    seen.add(domain);
  }
  const app = appCredentials(written, report);
  const token = filled(written.git_access_token);
  const key = filled(written.ssh_private_key);
  if (app !== undefined && (token ?? key) !== undefined) {
    report("github_app_id", "an App and a token or SSH key exclude each other");
  }
  return {
    domains,
    accessToken: token,
    accessTokenUser: filled(written.git_access_token_user) ?? "oauth2",
    sshPrivateKey: key,
    sshPrivateKeyPassphrase: filled(written.ssh_private_key_passphrase),
    app,
    skipTlsVerification: written.insecure_skip_tls ?? false,
  };
}

function appCredentials(written: WrittenDomain, report: Report): AppCredentials | undefined {
  const id = filled(written.github_app_id);
  const privateKey = filled(written.github_app_private_key);
  if (id === undefined && privateKey === undefined) return undefined;
  if (id === undefined || privateKey === undefined) {
    report("github_app_id", "an App needs both github_app_id and github_app_private_key");
    return undefined;
  }
  return { id, privateKey, installationId: filled(written.github_app_installation_id) ?? "" };
}

function filled(text: string | null | undefined): string | undefined {
  return text === undefined || text === null || text.trim() === "" ? undefined : text.trim();
}

/**
 * Reads SOURCE_URL_REWRITES, a YAML map. In its keys scheme and host are lower-cased, paths are not:
 * on most servers they are different repositories.
 *
 * Throws `config_invalid` with every problem; messages never repeat a replacement.
 */
export function parseUrlRewrites(text: string, file: string): Readonly<Record<string, string>> {
  const [first, second] = parseLocatedYaml(text, file);
  const sink = new ProblemSink(file);
  const root = first?.root;
  if (root?.kind !== "map" || second !== undefined) {
    sink.add(root?.at, "", "expected one map from URLs, prefixes or hosts to replacements");
    throw invalidInput(file, sink.problems);
  }
  const rewrites: [string, string][] = [];
  for (const [key, entry] of root.entries) {
    const target = entry.value.kind === "scalar" ? entry.value.text.trim() : "";
    if (key.trim() === "") sink.add(entry.at, "", "expected something to replace before the colon");
    if (target === "") sink.add(entry.at, key, "expected a replacement, as text");
    rewrites.push([lowerHost(key.trim()), target]);
  }
  if (!sink.clean) throw invalidInput(file, sink.problems);
  return Object.fromEntries(rewrites);
}

/** The part before the path, which is a whole key that has none. */
function lowerHost(key: string): string {
  const [before = ""] = /^(?:[a-z][a-z0-9+.-]*:\/\/)?[^/:]*(?::\d+(?=\/|$))?/i.exec(key) ?? [];
  return before.toLowerCase() + key.slice(before.length);
}

/** The problems of a text, or its value: many texts are read before anything is reported. */
export function problemsOf(error: unknown): StackwrightError["problems"] {
  if (error instanceof StackwrightError) return error.problems;
  throw error;
}
