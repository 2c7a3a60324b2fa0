import { parseJson, percentDecoded } from "../model/mod.ts";
import {
  assignedLines,
  assignmentsIn,
  entriesIn,
  type Entry,
  optionsIn,
  SHORTEST,
  urlPasswordsIn,
} from "./named_values.ts";

/**
 * The one rule of what nobody may read. Everything that masks (logs, runs, responses, the ledger's
 * messages, plans) goes by these functions; docs/secrets.md says them in words.
 */

/** Length below which digits are too likely part of an ordinary number. */
const SHORTEST_NUMBER = 8;
/** Length below which a value whose name says nothing is not taken for a secret. */
const SHORTEST_UNNAMED = 8;
/** Length from which a word of a secret file is hardly an ordinary one. */
const LONG_WORD = 16;

/** No {@link ORDINARY} text is longer. */
const LONGEST_ORDINARY = 20;

/** Masking these would blank out half of a log, and none of them keeps anybody out. */
const ORDINARY = new RegExp(
  "^(?:enabled|disabled|required|optional|default|example|localhost|production|development" +
    "|staging|testing|unless-stopped|always|password|passwd|secret|changeme|change-me|change_me" +
    "|postgres|postgresql|mariadb|mongodb|rabbitmq|elastic|grafana|minioadmin|administrator" +
    "|docker|container|service|services|stackwright|healthy|unhealthy|running|started|stopped|failed|skipped|succeeded|accepted|pending)$",
  "i",
);

/** Parts of which every name of a secret has one; most names are done with it. */
const SOUNDS_LIKE = /secret|pass|pw|cred|token|key|auth|bearer|cookie|dsn|jwt|pat|private|salt/i;
/** Words that name a secret wherever they stand in another one. */
const SECRET_PART = /secret|passw(?:or)?d|passphrase|credential|token|api_?key|private_?key/;
/** Words that do so only by themselves, or at the end of one. */
const SECRET_WORD =
  /^(?:auth|authorization|bearer|cookie|creds?|dsn|jwt|keys?|pass|passcode|pat|private|pw|salt)$/;
const SECRET_END = /(?:accesskey|masterkey|signingkey|sshkey|pwd|(?<!by|com|over|sur|tres)pass)$/;
/** A name that ends so says where a secret is, or something about it. */
const ABOUT_A_SECRET =
  /^(?:algorithm|audience|backend|class|count|dir|directory|disabled|domain|duration|enabled|endpoint|expires|expiry|file|files|format|header|host|hostname|interval|issuer|length|lifetime|limit|method|mode|name|path|policy|port|prefix|provider|realm|role|scope|scopes|server|service|size|sock|socket|strategy|timeout|ttl|type|uri|url|user|username|version)$/;
/** Values of names that end so are there to be read: versions, places, identities. */
const NAMES_A_THING =
  /^(?:branch|build|commit|digest|dir|directory|domain|email|file|files|gid|host|hostname|hosts|id|image|images|lang|level|name|opts|options|path|port|ports|project|ref|region|registry|repository|revision|sha|tag|tz|uid|uri|url|user|username|version)$/;

/** True when the name of a variable, label or option says that its value is a secret. */
export function soundsSecret(name: string): boolean {
  if (!SOUNDS_LIKE.test(name)) return false;
  if (/(?:basic|digest)auth\.users$/i.test(name)) return true;
  const words = /^[a-z]+$/.test(name) ? [name] : wordsOf(name);
  if (ABOUT_A_SECRET.test(words.at(-1) ?? "")) return false;
  return SECRET_PART.test(words.join("_")) ||
    words.some((word) => SECRET_WORD.test(word) || SECRET_END.test(word));
}

/** True when a text is long and unusual enough to be masked wherever it stands. */
export function worthHiding(text: string): boolean {
  if (text.length < SHORTEST) return false;
  if (text.length < SHORTEST_NUMBER && /^[\d.:/-]*$/.test(text)) return false;
  return text.length > LONGEST_ORDINARY || !ORDINARY.test(text);
}

/**
 * True when a variable of a dotenv file is a secret: by its name, or because its value looks
 * random. These files are where people put secrets under any name, besides image tags and host
 * names, which messages have to say.
 */
export function isSecretVariable(name: string, value: string): boolean {
  if (soundsSecret(name)) return namedSecretParts(name, value).length > 0;
  if (ABOUT_A_SECRET.test(wordsOf(name).at(-1) ?? "")) return false;
  return !NAMES_A_THING.test(wordsOf(name).at(-1) ?? "") && looksRandom(value);
}

/** Parts to hide of a value whose name sounds secret; nothing of a host, a path or an address. */
export function namedSecretParts(name: string, value: string): string[] {
  return soundsSecret(name) && !isPlace(value) ? secretParts(value) : [];
}

/** `AUTH_SERVER=auth.example.com` and the like say where something is, and messages say it too. */
function isPlace(value: string): boolean {
  const text = value.trim();
  const isOne =
    /^(?:[a-z][a-z0-9+.-]*:\/\/)?[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:\/[\w./-]*)?$/i.test(text) ||
    /^\/[\w./-]+$/.test(text);
  return isOne && !looksRandom(text);
}

/**
 * Everything to hide of a text that is a secret: itself, and what it may be taken apart into: the
 * texts of a JSON object, the passwords of URLs and connection strings, and what is left of it where
 * a program took it for something with separators (`Invalid port: …`), or escaped its signs.
 */
export function secretParts(text: string): string[] {
  const pieces = text.match(LONG_PIECES)?.filter((piece) => !WORD.test(piece)) ?? [];
  return [
    ...new Set([
      ...[text.trim(), ...jsonTexts(text)].filter(worthHiding),
      ...embeddedSecrets(text),
      ...pieces.filter(worthHiding),
    ]),
  ];
}

/** Secrets inside a text that is none itself: passwords of URLs, and values by the names before them. */
export function embeddedSecrets(text: string): string[] {
  const found: string[] = [];
  const add = (each: string) => worthHiding(each) && found.push(each);
  for (const secret of urlPasswordsIn(text)) [secret, percentDecoded(secret)].forEach(add);
  const wanted = (name: string) => CREDENTIALS.test(name) || soundsSecret(name);
  for (const { name, value } of assignmentsIn(text, wanted)) {
    if (CREDENTIALS.test(name)) optionSecrets(name, value).forEach(add);
    else add(value);
  }
  for (const { name, value } of optionsIn(text)) optionSecrets(name, value).forEach(add);
  for (const each of entriesIn(text, soundsSecret)) entrySecrets(each).forEach(add);
  return found;
}

/** Options whose value is a name and a password. */
const CREDENTIALS = /^-*(?:u|user|proxy-user)$/i;
/** What stands before the secret itself in the value of a header, or of JSON inside of JSON. */
const BEFORE_SECRET = /^[\\"']*(?:(?:basic|bearer|digest|token)\s+)?/i;

/** What to hide of the value of an option: `--password x`, `-u me:x`, and `-p x` or `-a x` where x looks random. */
export function optionSecrets(name: string, value: string): string[] {
  if (name.length > 1 && soundsSecret(name)) return [value];
  if (CREDENTIALS.test(name)) return /^([^\s:/]+):(?!\1$|\d+$|\$)(.+)$/.exec(value)?.slice(2) ?? [];
  return /^[ap]$/.test(name) && !/^[/.~$]/.test(value) && looksRandom(value) ? [value] : [];
}

/** What to hide of an entry: a word that looks random, where it may be an address, an image or a sentence. */
function entrySecrets({ name, value, isApart }: Entry): string[] {
  const begun = value.replace(BEFORE_SECRET, "");
  const end = begun.search(/[\\"']/);
  const secret = (end < 0 ? begun : begun.slice(0, end)).trim();
  if (VARIABLE.test(secret) || /^\d{0,5}\//.test(secret)) return [];
  const isSure = isApart && !/^(?:auth|keys?|private)$/i.test(name) && !isPlace(secret);
  const [word = ""] = secret.split(/\s/, 1);
  return isSure ? [secret, value] : looksRandom(word) ? [word] : [];
}

/** A value that a shell puts there. */
const VARIABLE = /^\$(?:\w+$|[({])/;

const ONLY_A_VARIABLE = /^\$(?:\w+|\{[^{}]*\})$/;

/** Values of names that sound secret, in a text that may be no valid YAML at all. */
export function namedSecrets(text: string): string[] {
  return entriesIn(text, soundsSecret).map(({ value }) => value.trim())
    .filter((value) => worthHiding(value) && !ONLY_A_VARIABLE.test(value));
}

/** Every secret that is written into a text in the clear, as far as names tell; compose's dollars too. */
export function writtenSecrets(text: string): string[] {
  const found = [...namedSecrets(text), ...embeddedSecrets(text)];
  return found.filter((each) => !ONLY_A_VARIABLE.test(each))
    .flatMap((each) => [each, each.replaceAll("$$", "$")]);
}

/**
 * Everything to hide of a file that is a secret: the whole, its lines, its assignments, long words. What is
 * several of these comes several times.
 */
export function secretsOfFile(text: string): string[] {
  const whole = text.trim();
  const lines = whole.split("\n").map((line) => line.trim());
  return [
    ...secretParts(whole),
    ...lines.filter(worthHiding),
    ...assignedIn(text).filter(worthHiding),
  ];
}

/** Values of the assignments of a text of unknown kind, and its long words. */
export function assignedIn(text: string): string[] {
  const assigned = assignedLines(text).map((each) => each.replace(/^(["'])(.*)\1,?$/, "$2"));
  const words = text.split(/\s+/).filter((word) => word.length >= LONG_WORD);
  return [...assigned, ...words];
}

/** The words of a name: `dbPassword`, `DB_PASSWORD` and `shop.db-password` end in the same one. */
function wordsOf(name: string): string[] {
  const last = name.slice(name.lastIndexOf(".") + 1);
  return last.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toLowerCase().match(/[a-z0-9]+/g) ?? [];
}

const SEPARATORS = /[\s._:/@,+=&?#|;()[\]{}<>-]+/;
const SEPARATED = new RegExp(`(${SEPARATORS.source})`);

/** Words, numbers, and words with a number (`postgres16`, `512m`); so is every beginning of one. */
const NAME = /^(?:[\p{L}]+\d{0,4}|\d+|\d{1,6}[a-zA-Z]{1,3}|[a-zA-Z0-9]{1,4})$/u;

/** Words of dates with a time (`27T23`, `20261127T230000Z`), durations and versions, which are said of all stacks. */
const TOLD =
  /^(?:\d{0,8}T\d{0,6}Z?|\d{1,9}Z|(?:\d{1,9}(?:ms|us|µs|ns|[wdhms])){1,8}\d{0,9}|v?\d{1,4}(?:alpha|beta|rc|pre|dev|post)\d{0,4})$/i;

const isName = (word: string) => NAME.test(word) || TOLD.test(word);

/** Pieces of a secret between other signs; shorter ones are not {@link worthHiding}, rare letters count twice. */
const LONG_PIECES = /[\p{L}\d]{3,}/gu;

/** The same of a piece of a secret, which is no word where capitals stand as in none. */
const WORD =
  /^(?:(?:\p{Lu}?\p{Ll}+(?:\p{Lu}\p{Ll}{2,})*|\p{Lu}+)\d{0,4}|\d+|\d{1,6}[a-zA-Z]{1,3})$/u;

/** True unless a text is made of {@link NAME}s and of what is {@link TOLD}. */
export function looksRandom(value: string): boolean {
  if (value.length < SHORTEST_UNNAMED) return false;
  const text = value.trim();
  if (text.length < SHORTEST_UNNAMED || ORDINARY.test(text)) return false;
  if (/^[\w./:-]+@sha256:[0-9a-f]{64}$/.test(text)) return false;
  return text.split(SEPARATORS).some((word) => word !== "" && !isName(word));
}

/** Length from which the beginnings of a text look random; infinite where none does. */
export function beginsRandom(text: string): number {
  let at = 0;
  for (const part of text.split(SEPARATED)) {
    if (!isName(part) && !SEPARATED.test(part) && part !== "") {
      let length = 1;
      while (isName(part.slice(0, length))) length++;
      return Math.max(SHORTEST_UNNAMED, at + length);
    }
    at += part.length;
  }
  return Infinity;
}

function jsonTexts(text: string): string[] {
  return /^\s*[[{]/.test(text) ? leaves(parseJson(text)) : [];
}

/** The texts in a value. Without recursion: JSON nests deeper than functions call each other. */
function leaves(value: unknown): string[] {
  const found: string[] = [];
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string") found.push(next);
    else if (typeof next === "object" && next !== null) {
      for (const each of Object.values(next)) open.push(each);
    }
  }
  return found.reverse();
}
