import {
  errors,
  formatAdoption,
  formatOwner,
  inShell,
  isEqualOwner,
  isSameOwner,
  type StackKey,
  type StackOwner,
} from "../model/mod.ts";
import { largestShare } from "./first_to_go.ts";
import { formerSources, type NamedSources, noteFormer } from "./former_sources.ts";
import { BESIDE, type EngineIdentity, knownEngine, noteEngines } from "./known_engines.ts";
import { keyIn, type Row } from "./ledger_database.ts";
import { LedgerTable } from "./ledger_table.ts";

/** A recorded owner of a stack. */
export interface RecordedOwner extends StackOwner {
  /** Whether a person handed the stack over: then labels that name the previous owner are void. */
  readonly adopted: boolean;
  /** The context that told its branch, where that is another one of the same engine. */
  readonly elsewhere?: string;
  /**
   * Another owner of the name by a context that leads to this engine, too: engines change, and may lie.
   * Then the stack is neither's, by either context, until a person hands it over by both. Who asks whose
   * a stack is, asks {@link otherOwner}, which knows this.
   */
  readonly contested?: OwnerElsewhere;
}

/** An owner by another context. */
export type OwnerElsewhere = StackOwner & { readonly context: string };

/** What a stack is deployed from in its owner's name. */
export interface DeployedFrom {
  readonly repository: string;
  /** Whether it was discovered there by the configuration of another repository. */
  readonly isFound: boolean;
}

/** Refused claimants to keep for each stack: whoever may push must not fill the disk. */
const MOST_REFUSED = 20;

/** SQL for a stack's row of owners and those of its name in {@link BESIDE}; the latest hand-over comes first. */
const OWNERS = `SELECT * FROM owners WHERE name = ?2
  AND (context = ?1 OR context IN (SELECT e.context FROM ${BESIDE})) ORDER BY adopted DESC, context`;

/**
 * Records the owner of each stack, also while it has no containers, and the claimants that were
 * refused: a person may hand the stack to one of them.
 */
export class Owners extends LedgerTable {
  /**
   * The owner of a stack; `undefined` when none was recorded in its context. Other contexts that
   * lead to its engine tell the branch where this one only knows the source, and contest any other owner.
   */
  get(key: StackKey): RecordedOwner | undefined {
    const rows = this.database.all(OWNERS, key);
    const row = rows.find(({ context }) => context === key.context);
    if (row === undefined) return undefined;
    const own = toOwner(row);
    const beside = rows.filter((each) => each !== row).map(toElsewhere);
    const told = own.reference === ""
      ? beside.find(({ source, reference }) => source === own.source && reference !== "")
      : undefined;
    const owner = told ? { ...own, reference: told.reference, elsewhere: told.context } : own;
    const contested = beside.find((each) => !isSameOwner(each, owner));
    return { ...owner, adopted: Number(row["adopted"]) > 0, ...(contested && { contested }) };
  }

  /** The repository that a stack was last deployed from, as far as that is known. */
  lastRepository(key: StackKey): string | undefined {
    return String(this.database.rowOf("owners", key)?.["repository"] ?? "") || undefined;
  }

  /**
   * The repositories that a stack was deployed from in its owner's name, as far as that is known, and the
   * ones that went with it by a hand-over ({@link noteCleared}); the last one comes first. They are
   * forgotten with the owner.
   */
  repositories(key: StackKey): string[] {
    const former = formerSources(this.database, "repositories", key);
    return [...new Set([this.lastRepository(key) ?? [], former].flat())];
  }

  /** The sources whose configurations' things went with a stack by a hand-over; forgotten with the owner. */
  configurations(key: StackKey): string[] {
    return formerSources(this.database, "configurations", key);
  }

  /** Whether a stack was last {@link DeployedFrom discovered} elsewhere; `undefined` where that is not known. */
  isFound(key: StackKey): boolean | undefined {
    const found = this.database.rowOf("owners", key)?.["found"] ?? null;
    return found === null ? undefined : found === 1;
  }

  /** The owners of stacks with the same name in other contexts. */
  elsewhere({ context, name }: StackKey): OwnerElsewhere[] {
    const sql = "SELECT * FROM owners WHERE name = ? AND context <> ? ORDER BY context";
    return this.database.all(sql, name, context).map(toElsewhere);
  }

  /** As {@link elsewhere}, in contexts that are known to lead to the engine of the stack, or to its swarm. */
  beside(key: StackKey): OwnerElsewhere[] {
    const rows = this.database.all(OWNERS, key);
    return rows.filter(({ context }) => context !== key.context).map(toElsewhere);
  }

  /** The contexts of {@link beside}, also without an owner of the stack there. */
  contextsBeside(key: StackKey): string[] {
    const sql = `SELECT e.context FROM ${BESIDE} ORDER BY e.context`;
    return this.database.all(sql, key).map((row) => String(row["context"]));
  }

  /**
   * Those of `all` that may be on the engine of a stack, as far as the ledger knows: those of contexts that were never
   * asked are. Each context is looked up once.
   */
  near<T extends Pick<StackKey, "context">>(key: StackKey, all: readonly T[]): T[] {
    const beside = new Set([key.context, ...this.contextsBeside(key)]);
    const isKnown = this.knowsEngine(key.context);
    const found = new Map<string, boolean>();
    const isNear = (context: string) =>
      beside.has(context) || !isKnown || !this.knowsEngine(context);
    return all.filter(({ context }) => found.getOrInsertComputed(context, () => isNear(context)));
  }

  /** Records what the engine of a context has just said that it is, never what it said a while ago. */
  noteEngine(context: string, identity: EngineIdentity): void {
    this.noteEngines(new Map([[context, identity]]));
  }

  /** As {@link noteEngine}, of engines that were asked at one time. */
  noteEngines(told: ReadonlyMap<string, EngineIdentity>): void {
    noteEngines(this.database, told);
  }

  /** Whether the engine of a context has ever said what it is. */
  knowsEngine(context: string): boolean {
    return knownEngine(this.database, context) !== undefined;
  }

  /**
   * Records that `owner` deploys a stack, and what `from`; writes only changes. Adds a branch where only
   * the source was known. Another recorded owner stays: a person has handed the stack over meanwhile.
   */
  settle(key: StackKey, owner: StackOwner, from?: DeployedFrom): void {
    const known = this.database.rowOf("owners", key);
    if (known !== undefined && !isSameOwner(toOwner(known), owner)) return;
    const learns = known?.["reference"] === "" && owner.reference !== "";
    if (!known || learns) this.#set(key, owner, Number(known?.["adopted"] ?? 0));
    if (from !== undefined) this.#note(key, from, known);
  }

  /**
   * A text that changes when a person hands a stack over, by whichever context of its engine, or when
   * such an owner's branch is learned; for a stack without an owner, when its name gets an
   * owner in another context.
   */
  mark(key: StackKey): string {
    const known = this.get(key);
    if (known === undefined) return this.elsewhere(key).map(formatOwner).join();
    const parts = [...known.adopted ? [known] : [], ...known.contested ? [known.contested] : []];
    return parts.map(formatOwner).join();
  }

  /**
   * Hands a stack over, as a person asked, by its context and by those `named`; forgets refused
   * claimants. Returns the stack's keys in these. Needs the ledger's transaction.
   *
   * Throws `conflict` while another context that leads to its engine has another owner of it and is
   * not named: that owner would go on there, or lose what a person never spoke of, since
   * engines may report an id that is not theirs. Throws `not_found` for a named one without the
   * stack, or that is not known to lead there.
   */
  adopt(key: StackKey, owner: StackOwner, named: readonly string[] = []): StackKey[] {
    const beside = this.beside(key);
    const also = [...new Set(named)].filter((name) => name !== key.context);
    const strange = also.find((name) => beside.every(({ context }) => context !== name));
    if (strange !== undefined) throw errors.not_found(notBeside(key, strange));
    const left = beside.filter((each) => !isSameOwner(each, owner) && !also.includes(each.context));
    if (left.length > 0) throw errors.conflict(ofOthersBeside(key, owner, left, also));
    const sql = "SELECT coalesce(max(adopted), 0) AS last FROM owners WHERE name = ?";
    const [row] = this.database.all(sql, key.name);
    const keys = [key.context, ...also].map((context) => ({ ...key, context }));
    for (const each of keys) {
      this.#set(each, owner, Number(row?.["last"]) + 1);
      this.#forgetRefused(each);
    }
    return keys;
  }

  /**
   * The number of the hand-over of a stack after which nobody has ended what its former owner had left, as
   * {@link noteCleared} records; 0 where nothing is to be cleared, or the stack is contested.
   */
  toClear(key: StackKey): number {
    const { adopted = 0, cleared = 0 } = this.database.rowOf("owners", key) ?? {};
    const isLeft = Number(adopted) > Number(cleared);
    return isLeft && this.get(key)?.contested === undefined ? Number(adopted) : 0;
  }

  /** The stacks that {@link toClear} tells of. */
  uncleared(): StackKey[] {
    return this.database.all("SELECT * FROM owners WHERE adopted > cleared").map(keyIn);
  }

  /**
   * Records that what a former owner had left has ended, and the sources that labels named by then: these
   * stay the stack's. A later hand-over than the one of that number is to be cleared all the same.
   */
  noteCleared(key: StackKey, number: number, named: NamedSources): void {
    this.database.transaction(() => {
      // The stack may be gone by now.
      if (this.toClear(key) === 0) return;
      for (const kind of ["configurations", "repositories"] as const) {
        noteFormer(this.database, kind, key, named[kind]);
      }
      const sql = "UPDATE owners SET cleared = ? WHERE context = ? AND name = ?";
      this.database.run(sql, number, key);
    });
  }

  /** Forgets the owner of a removed stack. Call it in a transaction of the ledger. */
  remove(key: StackKey): void {
    this.database.removeRows("owners", key);
    this.#forgetRefused(key);
  }

  /**
   * Records a claimant that was refused; writes only new ones. Of too many goes the oldest of the source with
   * the most: branches of one repository would keep all others from being handed the stack.
   */
  refuse(key: StackKey, wanted: StackOwner): void {
    const known = this.database.rowsOf("refused_owners", key, "ORDER BY rowid").map(toOwner);
    if (known.some((each) => isEqualOwner(each, wanted))) return;
    const { source, reference } = wanted;
    this.database.add("refused_owners", key, { source, reference });
    if (known.length < MOST_REFUSED) return;
    const [gone] = largestShare([...known, wanted], (each) => each.source);
    const sql = `DELETE FROM refused_owners
      WHERE context = ? AND name = ? AND source = ? AND reference = ?`;
    if (gone !== undefined) this.database.run(sql, key, gone.source, gone.reference);
  }

  /** The claimants that were refused, sorted. */
  refused(key: StackKey): StackOwner[] {
    return this.database.rowsOf("refused_owners", key, "ORDER BY source, reference").map(toOwner);
  }

  /** `adopted` counts the hand-overs of the name, in all contexts; 0 is none. */
  #set(key: StackKey, { source, reference }: StackOwner, adopted: number): void {
    // Replacing the row would forget the former repositories.
    this.database.run(
      `INSERT INTO owners (context, name, source, reference, adopted) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (context, name) DO UPDATE SET source = excluded.source,
         reference = excluded.reference, adopted = excluded.adopted`,
      key,
      source,
      reference,
      adopted,
    );
  }

  #note(key: StackKey, { repository, isFound }: DeployedFrom, known: Row | undefined): void {
    const found = Number(isFound);
    if (known?.["repository"] === repository && known["found"] === found) return;
    // Not in one transaction with the next statement: one that is noted twice does no harm.
    const former = String(known?.["repository"] ?? "");
    const left = former === repository ? [] : [former].filter(Boolean);
    noteFormer(this.database, "repositories", key, left);
    const set = "UPDATE owners SET repository = ?, found = ? WHERE context = ? AND name = ?";
    this.database.run(set, repository, found, key);
  }

  #forgetRefused(key: StackKey): void {
    this.database.removeRows("refused_owners", key);
  }
}

function toOwner(row: Row): StackOwner {
  return { source: String(row["source"]), reference: String(row["reference"]) };
}

function toElsewhere(row: Row): OwnerElsewhere {
  return { ...toOwner(row), context: String(row["context"]) };
}

function notBeside({ context, name }: StackKey, strange: string): string {
  return `${name} was not handed over: context ${strange} does not have it, or did not lead to the ` +
    `engine of context ${context} at the last deployment by it; leave ${strange} out`;
}

function ofOthersBeside(
  key: StackKey,
  owner: StackOwner,
  left: readonly OwnerElsewhere[],
  also: readonly string[],
): string {
  const theirs = left.map((each) => `for ${formatOwner(each)} by context ${each.context}`);
  const all = [...also, ...left.map(({ context }) => context)].join();
  return `${key.name} was not handed over: it is deployed ${theirs.join(", ")}, whose engine ` +
    `reports the id of that of context ${key.context}. If that is one engine, hand it over by all: ` +
    `${formatAdoption(key, owner)} --also ${inShell(all)}. If not, give one of them an id of its ` +
    "own, or remove its context and forget the stack there (stackwright forget)";
}
