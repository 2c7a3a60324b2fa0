import { dirname } from "node:path";
import { filesOwner, keptDataOwner, stackDirectories } from "../deploy/mod.ts";
import type { EngineInfo } from "../docker/mod.ts";
import {
  type DiscoveredStack,
  errors,
  formatOwner,
  isSameOwner,
  type StackKey,
  type StackOwner,
} from "../model/mod.ts";
import {
  deployedFrom,
  isFoundElsewhere,
  notFree,
  recordedOwner,
  whyElsewhere,
} from "../record/mod.ts";
import { withDeadline } from "../system/mod.ts";
import type { PipelineParts } from "./parts.ts";

/** Milliseconds for another engine to say what it is. */
const ASK_MS = 15_000;

/** A question for the owner of a stack by other contexts. */
interface AskedElsewhere {
  readonly key: StackKey;
  /** The owner that may have it; none by default. */
  readonly wants?: StackOwner;
  /** The stack, where it was discovered: then another repository of that owner may not have it. */
  readonly found?: DiscoveredStack | undefined;
  /** Whether something of the stack's name is on the engine. */
  readonly isThere: boolean;
}

/** An owner by another context. */
interface FoundElsewhere {
  readonly owner: StackOwner;
  /** Whether it is the one that asked, for another repository, or by another context. */
  readonly isOwn: boolean;
  /** Words that follow the stack's name; a whole sentence where `isOwn`. */
  readonly words: string;
}

/**
 * Finds whom a destroy kept data for that containers of a stack wrote, unless that is `wants`, for the
 * same repository. The record lies beside the data: it stays when the ledger forgets the releases. Where
 * the stack `isHandedOver`, `wants` has it instead of any other.
 */
export async function keptForOther(
  parts: Pick<PipelineParts, "files" | "options" | "ledger">,
  { key, wants, found, isHandedOver = false }: AskedElsewhere & {
    readonly wants: StackOwner;
    readonly isHandedOver?: boolean;
  },
): Promise<FoundElsewhere | undefined> {
  const kept = await keptDataOwner(parts, key);
  if (kept === undefined) return await keptBeside(parts, key, wants);
  const { context } = key;
  if (!isHandedOver && !isSameOwner(kept, wants)) {
    const words = `has data that its containers wrote, kept for ${formatOwner(kept)}`;
    return { owner: kept, isOwn: false, words };
  }
  if (!isFoundElsewhere(found) || found.repository === kept.repository) return undefined;
  return { owner: kept, isOwn: true, words: notFree(found, { from: kept.repository, context }) };
}

/**
 * The owner that the record beside a stack's files names, where that is another one than the ledger's: it was deployed
 * since the ledger that is here now was written, as when an older one was put back.
 */
export async function filesOfOther(
  parts: Pick<PipelineParts, "files" | "options" | "ledger">,
  key: StackKey,
  owner: StackOwner | undefined = recordedOwner(parts.ledger, key),
): Promise<StackOwner | undefined> {
  // Until a new owner's first deployment the record names the former one.
  if (owner === undefined || recordedOwner(parts.ledger, key)?.adopted === true) return undefined;
  const whose = await filesOwner(parts, key);
  return whose === undefined || isSameOwner(whose, owner) ? undefined : whose;
}

/** Finds data of an owner's stack that its containers wrote by another context of the engine: it would begin empty. */
async function keptBeside(
  parts: Pick<PipelineParts, "files" | "options" | "ledger">,
  key: StackKey,
  owner: StackOwner,
): Promise<FoundElsewhere | undefined> {
  const { dataDir } = parts.options;
  for (const context of parts.ledger.owners.contextsBeside(key)) {
    const there = { ...key, context };
    const kept = await keptDataOwner(parts, there);
    if (kept === undefined || !isSameOwner(kept, owner)) continue;
    const [from = "", to = ""] = [there, key].map((each) => stackDirectories(dataDir, each).stack);
    const words =
      `${key.name} is not deployed by context ${key.context}: its relative mounts would begin ` +
      `empty. Its containers wrote to them by context ${context}, which leads to the same engine: stop them, and ` +
      `move their files (mkdir -p ${dirname(to)} && mv -T ${from} ${to}), or remove these`;
    return { owner, isOwn: true, words };
  }
  return undefined;
}

/**
 * Finds the owners that deploy a stack through other contexts of the same engine, or other managers
 * of the same swarm, other than `wants`, or `wants` itself; those that are known to come first. Asked before a
 * context's first deployment of the stack, so that two contexts make no second owner; afterwards the ledger tells.
 * Engines may lie about what they are: such an owner only refuses, and nothing is anybody's by it.
 *
 * Engines are told apart by what they say now: all are asked where the ledger has an owner of that name, since
 * a machine, or its engine, may be another one, or have another name, since it was asked last. One that
 * cannot be asked is what it said last; one that never said anything counts as another one, unless
 * something of that name `isThere`.
 */
export async function ownersElsewhere(
  parts: Pick<PipelineParts, "ledger" | "host" | "hosts" | "clock">,
  asked: AskedElsewhere,
  signal: AbortSignal,
): Promise<FoundElsewhere[]> {
  const { ledger: { owners }, host } = parts;
  const { key, wants, isThere } = asked;
  const named = owners.elsewhere(key);
  if (named.length === 0) return [];
  const [here, answers] = await Promise.all([
    host.info(signal, { anew: true }),
    answersOf(parts, named, signal),
  ]);
  owners.noteEngines(answers.set(key.context, here));
  const others = named.flatMap(({ context, ...owner }) => {
    const found = conflictWith(parts.ledger, asked, { context, owner });
    return found === undefined ? [] : [{ context, ...found }];
  });
  const same = new Set(owners.beside(key).map(({ context }) => context));
  const isAway = (context: string) => isThere && !owners.knowsEngine(context);
  const known = others.filter(({ context }) => same.has(context));
  const away = others.filter(({ context }) => !same.has(context) && isAway(context));
  const found = [...known, ...away].map(({ context, text, ...found }) => {
    const leads = same.has(context) ? "leads" : "cannot be asked, and may lead";
    return { ...found, words: text(`which ${leads} to this engine`) };
  });
  const why = wants && found.length === 0 ? whyElsewhere(parts.ledger, key, wants) : undefined;
  return wants && why !== undefined ? [{ owner: wants, isOwn: true, words: why }] : found;
}

/** The owner by a context, if it is not the one asked for; `text` makes the words about it. */
function conflictWith(
  ledger: PipelineParts["ledger"],
  { key, wants, found }: AskedElsewhere,
  { context, owner }: { readonly context: string; readonly owner: StackOwner },
) {
  const belongs = (leads: string) =>
    `belongs to ${formatOwner(owner)} in context ${context}, ${leads}`;
  if (wants === undefined || !isSameOwner(owner, wants)) {
    return { owner, isOwn: false, text: belongs };
  }
  const from = isFoundElsewhere(found) ? deployedFrom(ledger, { ...key, context }) : undefined;
  if (found === undefined || from === undefined || from === found.repository) return undefined;
  return { owner, isOwn: true, text: () => notFree(found, { from, context }) };
}

/** Ports for asking engines what they are. */
export interface AskParts extends Pick<PipelineParts, "ledger" | "clock"> {
  readonly hosts: {
    of(context: string, signal: AbortSignal): Promise<Pick<PipelineParts["host"], "info">>;
  };
}

/**
 * Has the engine of a stack, and those of contexts in which another than `owner` has its name, say what
 * they are: a person who hands it over by a context that was never used speaks of one engine alone,
 * and may not know that it is another context's.
 *
 * Throws `conflict` where one of these never said it and cannot be asked.
 */
export async function askBeforeHandOver(
  parts: AskParts,
  key: StackKey,
  owner: StackOwner,
  signal: AbortSignal,
): Promise<void> {
  const { owners } = parts.ledger;
  const [first, ...others] = owners.elsewhere(key).filter((each) => !isSameOwner(each, owner));
  if (first === undefined) return;
  const asked = [key, first, ...others];
  owners.noteEngines(await answersOf(parts, asked, signal));
  const silent = asked.find(({ context }) => !owners.knowsEngine(context))?.context;
  if (silent === undefined) return;
  const theirs = others.find(({ context }) => context === silent) ?? first;
  throw errors.conflict(
    `${key.name} was not handed over: by context ${theirs.context} it belongs to ` +
      `${formatOwner(theirs)}, and the engine of context ${silent} never said what it is, and ` +
      "cannot be asked now: it may be one engine. Hand it over when that answers, or remove a " +
      "context that is not used any more, and forget the stack there (stackwright forget)",
  );
}

/** Has the engines of several contexts say what they are, those that answer soon; of one alone there is nothing to know. */
export async function askEngines(
  parts: AskParts,
  contexts: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const asked = [...new Set(contexts)].map((context) => ({ context }));
  if (asked.length > 1) parts.ledger.owners.noteEngines(await answersOf(parts, asked, signal));
}

/** What the engines of contexts say that they are, those that answer soon. */
async function answersOf(
  { hosts, clock }: AskParts,
  asked: readonly { readonly context: string }[],
  signal: AbortSignal,
): Promise<Map<string, EngineInfo>> {
  const limit = { clock, milliseconds: ASK_MS, late: () => new Error("it did not answer") };
  const ask = async ({ context }: { readonly context: string }) => {
    // What is remembered may be from before its machine had another name.
    const info = async (within: AbortSignal) =>
      (await hosts.of(context, within)).info(within, { anew: true });
    const answer = await withDeadline(limit, info, signal).catch(() => signal.throwIfAborted());
    return answer ? [[context, answer] as const] : [];
  };
  return new Map((await Promise.all(asked.map(ask))).flat());
}
