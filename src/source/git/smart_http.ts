import { Buffer } from "node:buffer";
import { errors, isStackwrightError } from "../../model/mod.ts";
import type { Clock, HttpAnswer, HttpClient, HttpRequest } from "../../system/mod.ts";
import type { GitAccess } from "./git_access.ts";
import { HostHolds } from "./host_holds.ts";
import { lsRefsRequest, readAdvertisement, readLsRefs } from "./ls_refs.ts";
import { only, type RemoteRefs } from "./remote_refs.ts";
import type { RepositoryUrl } from "./repository_url.ts";
import { type PackQuestion, packRequest, readPack } from "./small_pack.ts";

interface SmartHttpParts {
  readonly http: HttpClient;
  readonly access: GitAccess;
  readonly clock: Clock;
}

/** Facts about a remote from earlier answers. */
interface Known {
  /** Whether the remote demanded a login. */
  readonly login: boolean;
  /** Capabilities in protocol 2; `undefined` for a remote with an older protocol. */
  readonly capabilities: readonly string[] | undefined;
}

/** Milliseconds for which a remote is left to git after an unusual answer. */
const LEAVE_TO_GIT_MS = 10 * 60 * 1000;

/** Most remotes that are remembered; one more makes all of them be forgotten. */
const MOST_REMOTES = 10_000;

/**
 * Asks remotes for references over kept HTTP connections, without a git process: polls ask this most
 * often by far. It answers as git would or not at all: errors, redirects and certificates are left to
 * git, which handles them and explains them. A host that answers with too many requests is not asked
 * again by git.
 */
export class SmartHttp {
  readonly #parts: SmartHttpParts;
  readonly #known = new Map<string, Known>();
  /** Time until which a remote is left to git, in milliseconds since 1970. */
  readonly #left = new Map<string, number>();
  readonly #holds: HostHolds;

  constructor(parts: SmartHttpParts) {
    this.#parts = parts;
    this.#holds = new HostHolds(parts.clock);
  }

  /** Time until which the host of a remote asked for no more requests; `undefined` for none. */
  heldUntil({ remote }: RepositoryUrl): Date | undefined {
    return /^https?:/.test(remote) ? this.#holds.until(new URL(remote).host) : undefined;
  }

  /**
   * References of the remote with these full names; `undefined` when git has to ask.
   *
   * Throws `repository_unreachable` when the host answers that it gets too many requests.
   */
  async ask(
    url: RepositoryUrl,
    names: readonly string[],
    signal: AbortSignal,
  ): Promise<RemoteRefs | undefined> {
    if (url.scheme !== "http" && url.scheme !== "https") return undefined;
    // Full lists are left to git, and white space in a name would break the protocol's lines.
    if (names.length === 0 || names.some((name) => /\s/.test(name))) return undefined;
    if ((this.#left.get(url.remote) ?? 0) > this.#now()) return undefined;
    const authorization = await this.#authorization(url, signal);
    if (authorization === undefined) return undefined;
    try {
      const refs = await this.#ask(url.remote, names, authorization, signal);
      if (refs !== undefined) return refs;
    } catch (error) {
      signal.throwIfAborted();
      if (isStackwrightError(error, "repository_unreachable")) throw error;
    }
    return void this.leave(url);
  }

  /** The pack for a commit just listed; `undefined` when git has to fetch. Throws as {@link ask} does. */
  async pack(
    url: RepositoryUrl,
    question: PackQuestion,
    signal: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    const known = this.#known.get(url.remote);
    const body = known?.capabilities && packRequest(question, known.capabilities);
    if (known === undefined || body === undefined) return undefined;
    const authorization = await this.#authorization(url, signal);
    if (authorization === undefined) return undefined;
    const headers = headersOf(known.login ? authorization : "");
    try {
      const bytes = (await this.#post(url.remote, { headers, body }, signal))?.bytes;
      return bytes && readPack(bytes);
    } catch (error) {
      signal.throwIfAborted();
      if (isStackwrightError(error, "repository_unreachable")) throw error;
      return undefined;
    }
  }

  /** The header's value, empty without credentials; `undefined` when only git may reach the remote. */
  async #authorization(url: RepositoryUrl, signal: AbortSignal): Promise<string | undefined> {
    const login = await this.#parts.access.forHttp(url, signal);
    if (login?.kind !== "password") return login === undefined ? undefined : "";
    return `Basic ${Buffer.from(`${login.user}:${login.password}`).toString("base64")}`;
  }

  async #ask(
    remote: string,
    names: readonly string[],
    authorization: string,
    signal: AbortSignal,
  ): Promise<RemoteRefs | undefined> {
    const known = this.#known.get(remote);
    if (known?.capabilities !== undefined) {
      const { capabilities } = known;
      const headers = headersOf(known.login ? authorization : "");
      return await this.#lsRefs(remote, { names, capabilities, headers }, signal);
    }
    let login = known?.login ?? false;
    let answer = await this.#advertised(remote, login ? authorization : "", signal);
    if (answer.status === 401 && !login && authorization !== "") {
      // Like git, send credentials only to a server that demands them.
      login = true;
      answer = await this.#advertised(remote, authorization, signal);
    }
    const isUsual = is(answer, "application/x-git-upload-pack-advertisement");
    const said = isUsual ? readAdvertisement(answer.body) : undefined;
    if (said === undefined) return undefined;
    if (said.version === 0) {
      this.#remember(remote, { login, capabilities: undefined });
      return only(names, said.refs);
    }
    const { capabilities } = said;
    if (!capabilities.some((each) => /^ls-refs(?:=|$)/.test(each))) return undefined;
    const headers = headersOf(login ? authorization : "");
    const refs = await this.#lsRefs(remote, { names, capabilities, headers }, signal);
    if (refs !== undefined) this.#remember(remote, { login, capabilities });
    return refs;
  }

  #advertised(remote: string, authorization: string, signal: AbortSignal): Promise<HttpAnswer> {
    const url = `${remote}/info/refs?service=git-upload-pack`;
    return this.#send({ method: "GET", url, headers: headersOf(authorization) }, signal);
  }

  async #send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const answer = await this.#parts.http.send(request, signal);
    const { host } = new URL(request.url);
    const until = this.#holds.note(host, answer);
    if (until === undefined) return answer;
    throw errors.repository_unreachable(
      `${host} answered ${answer.status} to a question for references: it is asked too much. Polls ` +
        `of this host wait until ${until.toISOString()}; poll less often, or use webhooks`,
    );
  }

  async #lsRefs(
    remote: string,
    { names, capabilities, headers }: {
      readonly names: readonly string[];
      readonly capabilities: readonly string[];
      readonly headers: Readonly<Record<string, string>>;
    },
    signal: AbortSignal,
  ): Promise<RemoteRefs | undefined> {
    const body = lsRefsRequest(names, capabilities);
    const answer = await this.#post(remote, { headers, body }, signal);
    const refs = answer && readLsRefs(answer.body);
    return refs === undefined ? undefined : only(names, refs);
  }

  /** The answer to a request in protocol 2; `undefined` for an unusual one. */
  async #post(
    remote: string,
    { headers, body }: Required<Pick<HttpRequest, "headers" | "body">>,
    signal: AbortSignal,
  ): Promise<HttpAnswer | undefined> {
    const answer = await this.#send({
      method: "POST",
      url: `${remote}/git-upload-pack`,
      headers: {
        ...headers,
        "content-type": "application/x-git-upload-pack-request",
        "accept": "application/x-git-upload-pack-result",
      },
      body,
    }, signal);
    return is(answer, "application/x-git-upload-pack-result") ? answer : undefined;
  }

  #remember(remote: string, known: Known): void {
    if (this.#known.size >= MOST_REMOTES) this.#known.clear();
    this.#known.set(remote, known);
    this.#left.delete(remote);
  }

  /** Leaves a remote to git for a while. */
  leave({ remote }: RepositoryUrl): void {
    if (this.#left.size >= MOST_REMOTES) this.#left.clear();
    this.#left.set(remote, this.#now() + LEAVE_TO_GIT_MS);
    this.#known.delete(remote);
  }

  #now(): number {
    return this.#parts.clock.now().getTime();
  }
}

/** Some servers answer only clients that call themselves git. */
const AGENT = "git/2.39.0 (stackwright)";

/** Headers of every request. */
function headersOf(authorization: string): Record<string, string> {
  return {
    "git-protocol": "version=2",
    "user-agent": AGENT,
    ...(authorization === "" ? {} : { authorization }),
  };
}

/** True for status 200 with this media type. */
function is(answer: HttpAnswer, mediaType: string): boolean {
  return answer.status === 200 && answer.header("content-type") === mediaType;
}
