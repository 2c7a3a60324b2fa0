import { clip, type ErrorCode, errors, StackwrightError } from "../../model/mod.ts";

/** Reasons for which git commands fail, as far as their English messages tell. */
export type GitFailure =
  | "bad_remote"
  | "certificate"
  | "corrupt"
  | "denied"
  | "disk"
  | "host_key"
  | "locked"
  | "memory"
  | "no_such_ref"
  | "other"
  | "too_large"
  | "transient"
  | "unkept_host_key"
  | "unknown_host"
  | "unreachable"
  | "unwanted";

/** Damage of a repository, as programs without a remote say it. */
const DAMAGE =
  /not a git repository|object file .* is empty|loose object .* is corrupt|packfile .* cannot|inflate:|bad config|reference broken|pack has bad object|unable to find [0-9a-f]{40}|non-monotonic index|index file .* is too small|differ in contents/i;
/** Damage that may as well be a consequence of what stands above it. */
const LATE_DAMAGE =
  /bad object|is corrupt|corrupt(?:ed)? |unable to read (?:tree|sha1|[0-9a-f]{40})|missing (?:blob|tree|commit)|bad tree|did not send all necessary objects|index-pack failed|invalid sha1|unable to resolve reference|bad ref|failed to traverse parents|not a valid object|not a tree object|remote did not send|garbage at end|unable to parse|Could not read [0-9a-f]{40}|revision walk setup failed/i;

/** Tried from top to bottom: one failure may match several signs, the first one is the most precise. */
const SIGNS: readonly (readonly [GitFailure, RegExp])[] = [
  ["memory", /^(?:fatal|error): Out of memory, /m],
  // Only the kernel, out of memory, kills index-pack by SIGKILL; our limits end it in other ways.
  ["memory", /index-pack died of signal 9\b/],
  // Signals 25 and 24 are our limits on file size and processor time. index-pack explains its own
  // failures, so the bare last message also means a limit ended it.
  [
    "too_large",
    /(?:died of signal 25|index-pack died of signal 24)\b|File too large|^fatal: fetch-pack: invalid index-pack output\s*$/,
  ],
  ["disk", /No space left on device|Read-only file system|Disk quota exceeded/i],
  [
    "disk",
    /(?:unable to create|could not create|cannot create|unable to write|failed to write)(?!.*File exists).*(?:Permission denied|Not a directory|No such file)/i,
  ],
  ["locked", /Unable to create '.*\.lock': File exists|shallow file has changed/i],
  ["corrupt", DAMAGE],
  ["unknown_host", /^No \S+ host key is known for .* you have requested strict checking/m],
  ["host_key", /Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED/i],
  [
    "certificate",
    /unable to access .*(?:certificate verification failed|SSL certificate problem|certificate subject name)/i,
  ],
  [
    "denied",
    /Permission denied \(|Too many authentication failures|incorrect passphrase|error in libcrypto|invalid format/i,
  ],
  [
    "denied",
    /Authentication failed|could not read (?:Username|Password)|HTTP Basic: Access denied|invalid credentials|terminal prompts disabled/i,
  ],
  ["denied", /requested URL returned error: (?:401|403|407)|access denied|not authorized/i],
  [
    "unwanted",
    /not our ref|unadvertised object|not allow request for|want [0-9a-f]{40} not valid/i,
  ],
  ["no_such_ref", /couldn't find remote ref|no such ref|Remote branch .* not found/i],
  [
    "transient",
    /Could not resolve host|Temporary failure in name resolution|Connection (?:refused|reset|timed out|closed)|Failed to connect|Couldn't connect|Operation (?:timed out|too slow)|Network is unreachable|No route to host/i,
  ],
  [
    "transient",
    /requested URL returned error: (?:408|429|5\d\d)|early EOF|unexpected disconnect|the remote end hung up|RPC failed|TLS connect(?:ion)? error|kex_exchange_identification|Broken pipe|Empty reply|TLS connection was non-properly terminated/i,
  ],
  [
    "unreachable",
    /does not appear to be a git repository|repository '.*' not found|not found:|requested URL returned error|not valid: is this a git repository|Could not read from remote repository|unable to access|transport '.*' not allowed|No such file or directory|dubious ownership|redirect/i,
  ],
  ["corrupt", LATE_DAMAGE],
];

/** The same for a program that a remote may have the words of: over SSH nothing tells them from git's. */
const SIGNS_WITH_REMOTE: typeof SIGNS = [
  ...SIGNS.filter(([kind]) => kind !== "corrupt"),
  ["bad_remote", DAMAGE],
  ["bad_remote", LATE_DAMAGE],
];

/** Failures on this side: what the remote says is about its own disk and memory. */
const OWN: ReadonlySet<GitFailure> = new Set([
  "memory",
  "too_large",
  "disk",
  "locked",
  "corrupt",
  "bad_remote",
]);
const REMOTE_SAID = /^(?:remote:|fatal: remote error:)/;

/**
 * Lines of an error, and characters at either end of a line, that are classified: a remote may print
 * for minutes, and some patterns take time quadratic in the length of a line.
 */
const MOST_LINES = 50;
const LONGEST_END = 1000;
/** Progress lines that git prints for packs over HTTP even with `--quiet`. */
const PROGRESS = /^(?:Receiving objects|Resolving deltas|Indexing objects): /;

/**
 * Whether ssh could not store the key of a new host, so that any key would pass the next time. ssh says
 * so before the remote can print anything, and goes on.
 */
export function lostHostKey(stderr: string): boolean {
  return stderr.slice(0, LOST_WITHIN).includes("Failed to add the host to the list of known hosts");
}

/** Characters at the beginning of standard error that hold ssh's own message. */
const LOST_WITHIN = 16 * 1024;

/**
 * Classifies the standard error of a failed command. Lines of the remote (`remote:`) count last. One that
 * talked to a remote (`hasRemote`) never tells that the mirror is damaged.
 */
export function classifyFailure(stderr: string, hasRemote = false): GitFailure {
  const lines = linesOf(stderr);
  const ours = lines.filter((line) => !line.startsWith("remote:"));
  const signs = hasRemote ? SIGNS_WITH_REMOTE : SIGNS;
  return firstSign(ours, signs) ?? firstSign(lines, signs) ?? "other";
}

/** The lines that say something. */
function linesOf(stderr: string): string[] {
  return stderr.split(/\r\n|\r|\n/)
    .filter((line) => line.trim() !== "" && !PROGRESS.test(line));
}

/** Keeps both ends of a long line: the reason stands at its end, behind a URL of any length. */
function shortened(line: string): string {
  if (line.length <= 2 * LONGEST_END) return line;
  return `${line.slice(0, LONGEST_END)} ${line.slice(-LONGEST_END)}`;
}

function firstSign(lines: readonly string[], signs: typeof SIGNS): GitFailure | undefined {
  const last = lines.slice(-MOST_LINES).map(shortened);
  const [text, own] = [last, last.filter((line) => !REMOTE_SAID.test(line))]
    .map((each) => each.join("\n"));
  return signs.find(([kind, sign]) => sign.test((OWN.has(kind) ? own : text) ?? ""))?.[0];
}

const CODES: Readonly<Record<GitFailure, ErrorCode>> = {
  bad_remote: "source_invalid",
  certificate: "repository_unreachable",
  corrupt: "source_invalid",
  denied: "repository_denied",
  disk: "data_dir_unusable",
  host_key: "repository_denied",
  locked: "source_invalid",
  memory: "source_invalid",
  no_such_ref: "reference_not_found",
  other: "source_invalid",
  too_large: "source_invalid",
  transient: "repository_unreachable",
  unkept_host_key: "data_dir_unusable",
  unknown_host: "repository_denied",
  unreachable: "repository_unreachable",
  unwanted: "reference_not_found",
};

const ADVICE: Readonly<Record<GitFailure, string>> = {
  bad_remote:
    "what the remote sends is damaged, or not what it says it is: git fsck there tells more",
  certificate:
    "the certificate of the host is not trusted, so nothing was sent. If an authority of " +
    "your own signed it, name a file with all that are to be trusted in SSL_CERT_FILE",
  corrupt: "the mirror is damaged",
  denied: "check the credentials for this host (GIT_ACCESS_TOKEN and the hosts it may go to, " +
    "GIT_AUTH_DOMAINS, SSH_PRIVATE_KEY)",
  disk: "make room, or make the data directory writable",
  host_key:
    "the SSH host key is not the one known for this host, so nothing was sent. Ask who runs " +
    "the host whether its key changed; if it did, take its line out of known_hosts in the data " +
    "directory (ssh-keygen -R HOST -f FILE), or put the new key into SSH_KNOWN_HOSTS_FILE",
  locked: "another process works on this mirror, or died doing so; it is tried again",
  memory: "what the remote sends takes more memory than git may have, or than the machine has left",
  no_such_ref: "the reference does not exist there",
  other: "git gave no known reason",
  too_large: "what came at once is larger than GIT_MAX_BYTES, or took longer to look at than " +
    "GIT_MAX_CPU_SECONDS",
  transient: "the network or the server failed, which may pass",
  unkept_host_key:
    "the SSH host key could not be kept, so that any other one would be taken for it the " +
    "next time; what came was not used. Make known_hosts in the data directory a file that can be " +
    "written, or name one with the keys in SSH_KNOWN_HOSTS_FILE",
  unknown_host:
    "no key of this SSH host is known, and no new one is accepted: SSH_KNOWN_HOSTS_FILE lacks it, or, " +
    "without that, the disk of the data directory is full, or known_hosts in it has grown beyond 1 MiB; " +
    "make room, take hosts out of it that nobody needs, or add the key of this host",
  unreachable: "check the URL, and whether these credentials may see the repository",
  unwanted: "the commit does not exist there",
};

interface FailedGit {
  /** `fetching refs/heads/main of github.com/o/r`. */
  readonly doing: string;
  readonly failure: GitFailure;
  /** Already redacted. */
  readonly stderr: string;
}

/** The error of a failed command; a damaged mirror is recognised by {@link isDamaged}. */
export function gitError({ doing, failure, stderr }: FailedGit): StackwrightError {
  const lines = linesOf(stderr).slice(-MOST_LINES).map(shortened);
  const isOfDamage = lines.some((line) => DAMAGE.test(line) || LATE_DAMAGE.test(line));
  const cause = failure === "corrupt" ? DAMAGED : isOfDamage ? SUSPICIOUS : undefined;
  const details = cause === undefined ? {} : { cause };
  const said = lastWords(stderr);
  return new StackwrightError(
    CODES[failure],
    `${doing} failed: ${ADVICE[failure]}${said === "" ? "" : `; git said: ${said}`}`,
    details,
  );
}

/** What git says after each failure to reach a repository. */
const ALWAYS = /^Please make sure you have the correct access rights|^and the repository exists\.$/;

/** The lines that carry the reason, in one line of bounded length. */
function lastWords(stderr: string): string {
  const lines = stderr.split(/\r\n|\r|\n/).map((line) => line.trim()).filter((line) =>
    line !== "" && !PROGRESS.test(line) && !ALWAYS.test(line) &&
    !/^[@#=]+|^hint:|^warning:|^Cloning/.test(line)
  );
  return clip(lines.slice(-4).join("; "), 600);
}

const DAMAGED: unique symbol = Symbol("damaged mirror");

/** The error of a mirror that lacks objects; whoever catches it repairs the mirror. */
export function damagedError(message: string): StackwrightError {
  return errors.source_invalid(message, { cause: DAMAGED });
}

/** True when an error means that the mirror on disk is damaged or gone. */
export function isDamaged(error: unknown): boolean {
  return error instanceof StackwrightError && error.cause === DAMAGED;
}

const SUSPICIOUS: unique symbol = Symbol("mirror that may be damaged");

/** True when words of an error are those of damage, whoever said them: a reason to look at the mirror. */
export function isSuspicious(error: unknown): boolean {
  return error instanceof StackwrightError && error.cause === SUSPICIOUS;
}

const TOO_LARGE: unique symbol = Symbol("too large");

/** True for {@link tooLarge}. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof StackwrightError && error.cause === TOO_LARGE;
}

/** The error of a fetch that was ended because it exceeded a limit. */
export function tooLarge(
  { mostBytes, mostProcessorSeconds: seconds }: {
    readonly mostBytes: number;
    readonly mostProcessorSeconds: number;
  },
): StackwrightError {
  const reasons = [
    ...(mostBytes === 0 ? [] : [`has more than the ${mostBytes} bytes of GIT_MAX_BYTES`]),
    ...(seconds === 0
      ? []
      : [`takes more than the ${seconds} seconds of processor time of GIT_MAX_CPU_SECONDS`]),
    "takes more memory than the machine has left",
  ];
  return errors.source_invalid(
    `fetching was ended: what the remote sends at once ${reasons.join(", or ")}; fetch less of ` +
      "its history (git_depth), take large files out of it, or allow more",
    { cause: TOO_LARGE },
  );
}
