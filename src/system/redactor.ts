import type { StackKey } from "../model/mod.ts";
import { AskedStacks, type Learn } from "./asked_stacks.ts";
import { KnownSecrets } from "./known_secrets.ts";
import { LateForgetting } from "./late_forgetting.ts";
import { FORM_LIMITS, type FormLimits, maskKnown } from "./known_texts.ts";
import { endOf, isDottedPart, nameBefore } from "./named_values.ts";
import { soundsSecret, worthHiding } from "./secret_texts.ts";
import { maskUserInformation } from "./user_information.ts";

/**
 * Keeps secrets out of all output: logs, errors, runs and responses. Values are added when they become
 * known; those of a repository belong to its deployment, and are bounded and forgotten with it.
 */
export interface Redactor {
  /**
   * Makes `value`, each of its lines, and all {@link writtenForms} of them unprintable. Values shorter
   * than {@link SHORTEST_SECRET} are ignored: replacing them would blank out ordinary words. May be
   * called again with the same value. `owner` is what the value belongs to; those of the program itself
   * have none, and are never forgotten. Ordinary words of a stack or source are masked in texts about it
   * alone: nobody decides what the texts of others say. Beyond the room for all, the one with the most in
   * the source with the most of the author with the most is closed: its texts are let go and it gets none,
   * and texts about it, or about its source, are `***` until it is forgotten or {@link reopen}ed.
   */
  add(value: string, owner?: string): void;
  /**
   * Forgets the values that only this owner has; after the last stack of a source, those of the source. Does
   * so once the work is over that is under way, see {@link during}; what the owner gets meanwhile stays.
   */
  forget(owner: string): void;
  /**
   * Notes that work begins whose texts may be about any owner, or only about the stack `about`: what is
   * forgotten of these meanwhile stays known until the returned function is called.
   */
  during(about?: string): () => void;
  /**
   * Notes that the configuration in `source` names a stack, and `from`, the source of its files, by default
   * what was said before, or the same: texts about `stack` are also about both, and about those of each
   * `source` that was noted until one of them is settled. The stack shares the limit of the one that
   * owns it (`owns`, or {@link settle}), else of the last one. Where more than 20 name it, texts about it
   * are `***` until it is settled.
   */
  belongs(stack: string, source: string, from?: string, owns?: boolean): void;
  /** Settles the source of a stack, and forgets secrets of others that claimed it; `from` as in {@link belongs}. */
  settle(stack: string, source: string, from?: string): void;
  /**
   * Calls `ask` before each text that {@link redact} gets about a stack, so that the stack's secrets can
   * be added first. `ask` must be cheap: it is false while that takes longer, and the text is `***` then.
   * What it throws is ignored, and texts that come up meanwhile ask nothing. `learn` waits for what takes
   * longer, see {@link learned}. Returns a function that ends this.
   */
  asks(ask: (key: StackKey) => boolean, learn?: Learn): () => void;
  /**
   * Waits until texts about owners can be told, for a limited time. To be awaited before something is
   * told that is stored: it would be `***` for ever. Rejects with the signal's reason.
   */
  learned(about: readonly string[], signal: AbortSignal): Promise<void>;
  /**
   * `text` with every known secret and every URL's user information replaced by `***`. `about` has the
   * owners that the text is about, whose words are masked in it; {@link EVERYONE} for those of all.
   */
  redact(text: string, ...about: readonly string[]): string;
  /** Whether nothing is told about these owners, one of whom has more secrets than there is room for. */
  isClosed(...about: readonly string[]): boolean;
  /** Calls `tell` with each owner that is closed, when it is; in place of an earlier one. */
  onClosed(tell: (owner: string) => void): void;
  /** Opens an owner that was closed, and claims on it: what it has now is about to be added. */
  reopen(owner: string): void;
  /** As {@link redact}, by what is known already: for {@link isRoutine} texts, and for what is no text to tell. */
  redactKnown(text: string, ...about: readonly string[]): string;
}

const MASK = "***";
/** Length of one value that is made unprintable; what belongs to a repository is refused before. */
export const MOST_CHARACTERS = 64 * 1024;
/** Number of its lines that are so each by itself. */
const MOST_LINES = 1000;
/** Query values that commonly carry credentials. */
const SECRET_QUERY =
  /([?&](?:access_token|api_key|apikey|password|private_token|secret|token)=)[^&\s"']+/gi;
/** The header that carries credentials, as programs show it when they are asked to be verbose. */
const AUTHORIZATION =
  /(\bauthorization["']?\s{0,9}[:=]\s{0,9}["']?(?:[a-z]{1,20}\s{1,9})?)[\w.~+/=-]{8,}/gi;

/** A redactor that knows no secret yet; `limits` are those of what it knows of repositories. */
export function createRedactor(limits: FormLimits = FORM_LIMITS): Redactor {
  const asked = new AskedStacks();
  let tellClosed: ((owner: string) => void) | undefined;
  // Later: whoever is told asks for texts, while not all is added.
  const onClose = (owner: string) => queueMicrotask(() => tellClosed?.(owner));
  const known = new KnownSecrets(limits, onClose);
  const late = new LateForgetting((owner) => known.forget(owner));
  const redactKnown = (text: string, ...about: readonly string[]) => {
    if (text !== "" && known.isClosed(about)) return MASK;
    let masked = maskKnown(text, known.about(about), MASK);
    // Every answer and every line comes by here, and few of them have a URL or an assignment.
    if (masked.includes("://")) masked = maskUserInformation(masked);
    masked = masked.replace(AUTHORIZATION, `$1${MASK}`);
    if (!masked.includes("=")) return masked;
    return maskAssignments(masked.replace(SECRET_QUERY, `$1${MASK}`));
  };
  return {
    add(value, owner = "") {
      const text = value.slice(0, MOST_CHARACTERS);
      late.note(owner, text, () => known.add(piecesOf(text), owner));
    },
    forget: (owner) => late.forget(owner),
    during: (about) => late.begin(about),
    belongs(stack, source, from, owns) {
      late.note(stack, source, () => known.belongs(stack, source, from, owns));
    },
    settle(stack, source, from) {
      late.note(stack, "", () => known.settle(stack, source, from));
    },
    asks: (ask, learn) => asked.set(ask, learn),
    learned: (about, signal) => asked.learned(about, signal),
    redact(text, ...about) {
      if (!asked.about(about) && text !== "") return MASK;
      return redactKnown(text, ...about);
    },
    isClosed: (...about) => known.isClosed(about),
    onClosed: (tell) => tellClosed = tell,
    reopen: (owner) => known.reopen(owner),
    redactKnown,
  };
}

/** A text, and its lines, each without what surrounds it. */
function piecesOf(text: string): ReadonlySet<string> {
  const lines = text.split(/\r?\n/, MOST_LINES).map((line) => line.trim());
  return new Set([text, text.trim(), ...(lines.length > 1 ? lines.filter(worthHiding) : [])]);
}

/** A value as it is assigned: between quotes, which may be missing at its end, or without. */
const ASSIGNED = /"[^"\n]{6,}"?|'[^'\n]{6,}'?|[^\s"'=*&][^\s"'&]{5,}/y;

/** Assignments, as containers print their environment and people write it into a wrong place. */
function maskAssignments(text: string): string {
  let result = "";
  let shown = 0;
  for (let at = text.indexOf("="); at >= 0;) {
    const name = nameBefore(text, at, isDottedPart);
    const isSecret = name !== "" && !/^(?:auth|keys?|private)$/i.test(name) && soundsSecret(name);
    const end = isSecret ? endOf(ASSIGNED, text, at + 1) : at + 1;
    if (end > at + 1) {
      result += text.slice(shown, at + 1) + MASK;
      shown = text[end - 1] === "…" ? end - 1 : end;
    }
    at = text.indexOf("=", end);
  }
  return shown === 0 ? text : result + text.slice(shown);
}
