import { type StackKey, stackKey } from "../model/mod.ts";

/** A stack, as what its secrets belong to and what texts are about. */
export function stackAsOwner({ context, name }: StackKey): string {
  return `stack ${context}/${name}`;
}

/** The stack of an owner that {@link stackAsOwner} made; `undefined` for all others. */
export function stackOfOwner(owner: string): StackKey | undefined {
  const [, context, name] = /^stack ([^\s/]+)\/(\S+)$/.exec(owner) ?? [];
  return context === undefined || name === undefined ? undefined : stackKey(context, name);
}

/** The fields of a line of the log that is about the stack of an owner, if it is one. */
export function stackFields(
  owner: string | undefined,
): { readonly stack?: string; readonly context?: string } {
  const key = stackOfOwner(owner ?? "");
  return key === undefined ? {} : { stack: key.name, context: key.context };
}

/**
 * A stack that nobody owns yet, as what the secrets of one of the sources that name it belong to: texts
 * about it are about those of all of them, until it is settled whose it is.
 */
export function claimAsOwner(key: StackKey, source: string): string {
  return claimOf(stackAsOwner(key), sourceAsOwner(source));
}

/** The owner of a claim on a stack by a source, both as owners. */
export function claimOf(stack: string, source: string): string {
  return `${stack} of ${source}`;
}

/** The stack and the source of a claim, none for other owners; no name of a stack or context has a space. */
export function partsOf(owner: string): readonly string[] {
  return /^(stack \S+) of (source .*)$/s.exec(owner)?.slice(1) ?? [];
}

/** A source, by the name of its repository, as what its secrets belong to and what texts are about. */
export function sourceAsOwner(name: string): string {
  return `source ${name}`;
}

/**
 * Who has a source, as far as its name tells: on a host, the owner of the repository. Sources of one
 * author share what there is, however many there are.
 */
export function authorOf(source: string): string {
  // Paths of this machine name no owner.
  return /^source (?!local\/)[^/]+\/[^/]+/.exec(source)?.[0] ?? source;
}

/** True for what a repository may choose: its secrets, and those that are read for it from a store. */
export function isRepositorys(owner: string): boolean {
  return isAuthors(owner) || owner.startsWith("external ");
}

/** True for stacks and sources: what these have is known to be theirs. */
export function isAuthors(owner: string): boolean {
  return /^(?:stack|source) /.test(owner);
}

/** Owner for texts to the caller of a command, which may hold words of any owner: all are masked. */
export const EVERYONE = "everyone";
/** Owner for texts in which no owner's words are masked. */
export const NOBODY = "";
