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
  /** Whether it wanted a login. */
  readonly login: boolean;
  /** In protocol 2, where it speaks that. */
  readonly capabilities: readonly string[] | undefined;
}

/** Milliseconds for which a remote is left to git after an answer that was not as usual. */
const LEAVE_TO_GIT_MS = 10 * 60 * 1000;

/** Remotes that something is remembered of; more than that are asked as if they were new. */
const MOST_REMOTES = 10_000;

/**
 * Asks remotes for references over HTTP on a connection that is kept, without a program: what is
 * asked most often by far. It answers what git would, or nothing: whatever is not an ordinary
 * answer, be it an error, a redirect or a certificate, is left to git, which knows all of that and
 * says what is wrong. Only a host that wants to be left alone is not asked by git, too.
 */
export class SmartHttp {
  readonly #parts: SmartHttpParts;
  readonly #known = new Map<string, Known>();
  /** Until when a remote is left to git, in milliseconds since 1970. */
  readonly #left = new Map<string, number>();
  readonly #holds: HostHolds;

  constructor(parts: SmartHttpParts) {
    this.#parts = parts;
    this.#holds = new HostHolds(parts.clock);
  }

  /** Until when the host of a remote wants to be left alone; `undefined` when it may be asked. */
  heldUntil({ remote }: RepositoryUrl): Date | undefined {
    return /^https?:/.test(remote) ? this.#holds.until(new URL(remote).host) : undefined;
  }

  /**
   * What the remote has of some full names; `undefined` when git has to ask.
   *
   * Throws `repository_unreachable` when the host says that it is asked too much.
   */
  async ask(
    url: RepositoryUrl,
    names: readonly string[],
    signal: AbortSignal,
  ): Promise<RemoteRefs | undefined> {
    if (url.scheme !== "http" && url.scheme !== "https") return undefined;
    // A full list is another question, and a space would end a line of the protocol.
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

  /**
   * What the remote sends for a commit that it just told of; `undefined` when git has to fetch it. Throws
   * as {@link ask} does.
   */
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

  /** Empty without credentials; `undefined` where only git can reach the remote as it is wanted. */
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
      // Like git, which shows credentials to nobody who does not ask for them.
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

  /** The answer to a question in protocol 2; `undefined` for one that is not as usual. */
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

/** Some servers answer nobody else. */
const AGENT = "git/2.39.0 (stackwright)";

/** Headers of every request. */
function headersOf(authorization: string): Record<string, string> {
  return {
    "git-protocol": "version=2",
    "user-agent": AGENT,
    ...(authorization === "" ? {} : { authorization }),
  };
}

/** True for an answer of success and of this kind. */
function is(answer: HttpAnswer, mediaType: string): boolean {
  return answer.status === 200 && answer.header("content-type") === mediaType;
}
