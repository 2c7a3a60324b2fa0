import { Buffer } from "node:buffer";
import { errors, isStackwrightError, wholeSeconds } from "../../model/mod.ts";
import type { Clock, HttpAnswer, HttpClient, HttpRequest } from "../../system/mod.ts";
import type { GitAccess } from "./git_access.ts";
import { type AskedOf, HostHolds } from "./host_holds.ts";
import { lsRefsRequest, readAdvertisement, readLsRefs } from "./ls_refs.ts";
import { only, type RemoteRefs } from "./remote_refs.ts";
import type { RepositoryUrl } from "./repository_url.ts";
import { type PackQuestion, packRequest, readPack } from "./small_pack.ts";

interface SmartHttpParts {
  readonly http: HttpClient;
  readonly access: GitAccess;
  readonly clock: Clock;
}

/** A remote, and what logs in there when it demands a login. */
interface Asked {
  readonly remote: string;
  /** The header's value, empty without credentials. */
  readonly authorization: string;
  /** Name of the login that stays the same when its token is made anew. */
  readonly login: string;
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

  /** Time until which a remote, or its host, wants no more requests by the login that it demands, if any. */
  heldUntil(url: RepositoryUrl): Date | undefined {
    const asks = this.#asksOf(url);
    return asks && this.#holds.until(asks);
  }

  /**
   * Requirement for a question that comes again by itself: throws `repository_unreachable` while the
   * remote itself, not just another one of its host, asked for no more requests.
   */
  requireFree(url: RepositoryUrl): void {
    const asks = this.#asksOf(url);
    const until = asks && this.#holds.ownUntil(asks);
    if (until === undefined) return;
    throw errors.repository_unreachable(
      `${new URL(url.remote).host} asked for no more questions for references of this ` +
        `repository by timers until ${wholeSeconds(until)}; poll less often, or use webhooks`,
    );
  }

  #asksOf(url: RepositoryUrl): AskedOf | undefined {
    if (url.scheme !== "http" && url.scheme !== "https") return undefined;
    const isDemanded = this.#known.get(url.remote)?.login === true;
    const login = isDemanded ? this.#parts.access.loginName(url) : "";
    return asksOf(url.remote, login);
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
    const asked = await this.#asked(url, signal);
    if (asked === undefined) return undefined;
    try {
      const refs = await this.#ask(asked, names, signal);
      if (refs !== undefined) return refs;
    } catch (error) {
      signal.throwIfAborted();
      if (isStackwrightError(error, "repository_unreachable")) throw error;
    }
    return void this.leave(url);
  }

  /** The pack for a commit; `undefined` when git has to fetch. Throws as {@link ask} does. */
  async pack(
    url: RepositoryUrl,
    question: PackQuestion,
    signal: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    // Only an answer tells what the remote can do.
    if (!this.#known.has(url.remote)) await this.ask(url, ["HEAD"], signal);
    const known = this.#known.get(url.remote);
    const body = known?.capabilities && packRequest(question, known.capabilities);
    if (known === undefined || body === undefined) return undefined;
    const asked = await this.#asked(url, signal);
    if (asked === undefined) return undefined;
    try {
      const bytes = (await this.#post(withLogin(asked, known), body, signal))?.bytes;
      return bytes && readPack(bytes);
    } catch (error) {
      signal.throwIfAborted();
      if (isStackwrightError(error, "repository_unreachable")) throw error;
      return undefined;
    }
  }

  /** The remote with its login; `undefined` when only git may reach it. */
  async #asked(url: RepositoryUrl, signal: AbortSignal): Promise<Asked | undefined> {
    const { access } = this.#parts;
    const login = await access.forHttp(url, signal);
    if (login === undefined) return undefined;
    const asked = { remote: url.remote, authorization: "", login: "" };
    if (login.kind !== "password") return asked;
    const basic = Buffer.from(`${login.user}:${login.password}`).toString("base64");
    return { ...asked, authorization: `Basic ${basic}`, login: access.loginName(url) };
  }

  async #ask(
    asked: Asked,
    names: readonly string[],
    signal: AbortSignal,
  ): Promise<RemoteRefs | undefined> {
    const { remote, authorization } = asked;
    const known = this.#known.get(remote);
    if (known?.capabilities !== undefined) {
      const { capabilities } = known;
      return await this.#lsRefs(withLogin(asked, known), { names, capabilities }, signal);
    }
    let login = known?.login ?? false;
    let answer = await this.#advertised(withLogin(asked, { login }), signal);
    if (answer.status === 401 && !login && authorization !== "") {
      // Like git, send credentials only to a server that demands them.
      login = true;
      this.#remember(remote, { login, capabilities: undefined });
      answer = await this.#advertised(asked, signal);
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
    const refs = await this.#lsRefs(withLogin(asked, { login }), { names, capabilities }, signal);
    if (refs !== undefined) this.#remember(remote, { login, capabilities });
    return refs;
  }

  #advertised(asked: Asked, signal: AbortSignal): Promise<HttpAnswer> {
    const url = `${asked.remote}/info/refs?service=git-upload-pack`;
    return this.#send(asked, { method: "GET", url, headers: headersOf(asked) }, signal);
  }

  async #send(
    { remote, login }: Asked,
    request: HttpRequest,
    signal: AbortSignal,
  ): Promise<HttpAnswer> {
    const answer = await this.#parts.http.send(request, signal);
    const until = this.#holds.note(asksOf(remote, login), answer);
    if (until === undefined) return answer;
    const by = login === "" ? "without a login" : "by this login";
    throw errors.repository_unreachable(
      `${new URL(remote).host} answered ${answer.status} to a question for references: it is ` +
        `asked too much. Polls of this repository wait until ${wholeSeconds(until)}, those of ` +
        `others of this host ${by} for at most five minutes of that; poll less often, or use webhooks`,
    );
  }

  async #lsRefs(
    asked: Asked,
    { names, capabilities }: {
      readonly names: readonly string[];
      readonly capabilities: readonly string[];
    },
    signal: AbortSignal,
  ): Promise<RemoteRefs | undefined> {
    const answer = await this.#post(asked, lsRefsRequest(names, capabilities), signal);
    const refs = answer && readLsRefs(answer.body);
    return refs === undefined ? undefined : only(names, refs);
  }

  /** The answer to a request in protocol 2; `undefined` for an unusual one. */
  async #post(
    asked: Asked,
    body: NonNullable<HttpRequest["body"]>,
    signal: AbortSignal,
  ): Promise<HttpAnswer | undefined> {
    const answer = await this.#send(asked, {
      method: "POST",
      url: `${asked.remote}/git-upload-pack`,
      headers: {
        ...headersOf(asked),
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

/** The remote without our login where it demands none. */
function withLogin(asked: Asked, { login }: Pick<Known, "login">): Asked {
  return login ? asked : { ...asked, authorization: "", login: "" };
}

function asksOf(remote: string, login: string): AskedOf {
  return {
    host: JSON.stringify([new URL(remote).host, login]),
    repository: JSON.stringify([remote, login]),
  };
}

function headersOf({ authorization }: Asked): Record<string, string> {
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
