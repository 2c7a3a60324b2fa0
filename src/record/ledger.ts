import {
  errors,
  formerOwner,
  isSameOwner,
  plainOwner,
  type Release,
  requireNotHeld,
  type StackKey,
  type StackOwner,
} from "../model/mod.ts";
import { forgetGoneStacks, forgetReleases } from "./forget_releases.ts";
import type { Intent } from "./intents.ts";
import type { Pin } from "./pins.ts";
import type { RecordedRelease } from "./recorded_release.ts";
import { LedgerIntents } from "./ledger_intents.ts";

export type { Intent } from "./intents.ts";
export type { RecordedRelease, ReleaseStatus } from "./recorded_release.ts";

/** Facts for finishing a deployment after its process has ended; none by default. */
interface Begun {
  readonly ranBefore?: readonly string[];
  /** Services that have containers: of what an attempt before left stopped, only these can be started again. */
  readonly there?: readonly string[];
  /** Whether to remove services that the release does not have. */
  readonly removeOrphans?: boolean;
  /** Whether to remove in any case what the current release has added. */
  readonly undoes?: boolean;
  /** Services of the release that were kept orphans before. */
  readonly orphans?: readonly string[];
  /** Whether its success ends a person's stop of before; one that comes later is another. */
  readonly starts?: boolean;
  /** Ids of the images built for it, by service: their names may lead to other images later. */
  readonly images?: RecordedRelease["images"];
  /** In whose name it is deployed; by default, the stack's owner's. */
  readonly owner?: StackOwner;
  /** Keys of what no release claims, and comes back where this one fails; see {@link ReleaseClaims}. */
  readonly claims?: readonly string[];
}

/**
 * The durable memory: the current release of each stack, earlier ones, and open intents. Calls are
 * synchronous, and durable when they return unless they say otherwise.
 *
 * Every call throws `data_dir_unusable` when the disk is full or read-only, and `ledger_unusable`
 * when the database is damaged.
 */
export class Ledger extends LedgerIntents {
  /**
   * Records that `release` is about to be applied. Nothing may be changed before this returns.
   * Closes the stack's intents that ended processes left open: this release replaces theirs.
   *
   * Throws `conflict` while another running process is changing the stack.
   */
  beginDeploy(release: Release): Intent {
    return this.database.transaction(() => this.#record(release));
  }

  /**
   * Like {@link beginDeploy}, for a release that was decided when {@link mark} was `since`. `pin`
   * holds from then on, unless the intent fails. Returns `undefined`, recording nothing, when
   * that does not hold any more, see {@link isStill}: the decision is out of date.
   */
  beginDecided(
    release: Release,
    since: string,
    { pin, ...begun }: Begun & { readonly pin?: Pin } = {},
  ): Intent | undefined {
    const { key } = release;
    return this.database.transaction(() => {
      if (!this.isStill(key, since)) return undefined;
      const intent = this.#record(release, begun);
      if (pin !== undefined) this.pins.begin(key, pin, intent.id);
      return intent;
    });
  }

  /**
   * Records that a stack is about to be removed, in the name of `by`; see {@link beginDeploy}. Throws
   * `conflict` as well while a person holds it.
   */
  beginDestroy(
    key: StackKey,
    options: Readonly<Record<string, boolean>>,
    by: StackOwner | undefined = this.#ownerOf(key),
  ): Intent {
    return this.database.transaction(() => this.#recordDestroy(key, options, by));
  }

  /**
   * Like {@link beginDestroy}, where that was decided when {@link mark} was `since`; returns `undefined` as
   * {@link beginDecided} does. A stack that nobody owned is `settles`' then: whoever finishes the removal after a
   * kill finds no labels of containers to tell the owner by.
   */
  beginDecidedDestroy(
    key: StackKey,
    since: string,
    { options, by, settles }: {
      readonly options: Readonly<Record<string, boolean>>;
      readonly by: StackOwner | undefined;
      readonly settles?: StackOwner | undefined;
    },
  ): Intent | undefined {
    return this.database.transaction(() => {
      if (!this.isStill(key, since)) return undefined;
      // The current release of one without an owner, which an older version recorded, names it.
      const isNobodys = this.current(key) === undefined;
      if (isNobodys && settles !== undefined) this.owners.settle(key, settles);
      return this.#recordDestroy(key, options, by);
    });
  }

  /**
   * Closes an intent whose release is healthy, and makes that release the current one. Forgets the
   * stack's failure unless `keepsFailure`: then it is of another release that is still wanted. With `unpins` ends
   * the pin that a person's rollback before has left; one that comes later, while the rollout is tidied up
   * after, is another.
   */
  succeed(
    intent: Intent,
    images: Readonly<Record<string, string>>,
    message: string,
    ends: { readonly keepsFailure?: boolean; readonly unpins?: boolean } = {},
  ): void {
    this.intents.rest(intent);
    this.deployed(intent, images, message, ends);
    this.tidied(intent);
  }

  /** As {@link succeed}, but leaves the intent open, so that other processes wait until {@link tidied}. */
  deployed(
    intent: Intent,
    images: Readonly<Record<string, string>>,
    message: string,
    { keepsFailure = false, unpins = false }: Parameters<Ledger["succeed"]>[3] = {},
  ): void {
    const { key, releaseId } = intent;
    if (releaseId === undefined) {
      throw errors.internal("BUG: intent without release");
    }
    this.database.transaction(() => {
      this.releases.makeCurrent(key, releaseId, images);
      this.releases.setStatus(releaseId, "deployed", this.redact(message, key), this.now());
      if (!keepsFailure) this.failures.clear(key);
      if (unpins) this.pins.remove(key);
      if (intent.options["starts"] === true) this.stops.remove(key);
      this.pins.end(key, intent.id, "succeeded");
      this.intents.noteDone(intent, this.redact(message, key));
      forgetReleases(this.database, key);
    });
  }

  /**
   * Closes an intent whose release failed; the current release does not change. `stopped` are the services
   * that it may have stopped of those that ran before, where that is known: the next one starts them.
   */
  fail(
    intent: Intent,
    status: "failed" | "rolled_back",
    message: string,
    stopped: readonly string[] = intent.ranBefore,
  ): void {
    this.ending(intent, () => {
      if (stopped !== intent.ranBefore) this.intents.noteStopped(intent, stopped);
      this.giveUp(intent, status, message);
      forgetReleases(this.database, intent.key);
    });
  }

  /**
   * Closes the intent of a finished destroy: the stack has no current release any more. Its history
   * stays, and with `keepsOwner` its owner.
   */
  destroyed(intent: Intent, message: string, { keepsOwner = false } = {}): void {
    this.ending(intent, () => {
      this.releases.forgetCurrent(intent.key);
      this.failures.clear(intent.key);
      const { pins, stops, reconciliations, holds, deferred, discovered } = this;
      for (const table of [pins, stops, reconciliations, holds, deferred, discovered]) {
        table.remove(intent.key);
      }
      if (!keepsOwner) this.owners.remove(intent.key);
      this.finish(intent, "succeeded", message);
      forgetGoneStacks(this.database, this.now());
    });
  }

  /**
   * Hands a stack to another owner, as a person asked, with the releases that the source
   * `releasesOf` deployed: all others stay their former owners'. Does so by the contexts of `also`,
   * too. Gives up what was cut off: a destroy, since what it has left is the new owner's, and the
   * deployment of a former owner's release.
   *
   * Throws `not_found` when that source deployed none, and as {@link Owners.adopt} does.
   */
  handOver(
    key: StackKey,
    owner: StackOwner,
    { releasesOf = "", also = [] }: {
      readonly releasesOf?: string;
      readonly also?: readonly string[];
    } = {},
  ): void {
    this.database.transaction(() => {
      const keys = this.owners.adopt(key, owner, also);
      // By the owners before: what of them is cut off ends, also where their good releases are moved.
      const left = keys.flatMap((each) => this.intents.ended(each)).filter(({ releaseId }) => {
        const release = this.release(releaseId);
        return release === undefined || formerOwner(release, owner) !== undefined;
      });
      if (releasesOf !== "") {
        const moved = keys.map((each) => this.releases.handOver(each, releasesOf, owner));
        if (moved.every((count) => count === 0)) {
          throw errors.not_found(`no release of ${key.name} was deployed from ${releasesOf}`);
        }
      }
      for (const each of keys) this.deferred.remove(each, (asker) => !isSameOwner(asker, owner));
      for (const each of left) {
        this.giveUp(each, "failed", "interrupted; the stack was handed over");
      }
    });
  }

  /**
   * Replaces the current release by an equal one made from other inputs (a comment in a compose
   * file), so that the next look compares with these. Does nothing where {@link mark} is no longer what it
   * was when that was found: a former owner's look must not make its release the new owner's. Nor while a
   * change of the stack is open: what runs equal to the inputs may be the release that it has begun.
   */
  refresh(recorded: RecordedRelease, release: Release, since: string): void {
    const { key } = recorded;
    this.database.transaction(() => {
      if (!this.#isAsFound(key, since)) return;
      this.releases.replace(recorded, release, this.#ownerOf(key));
    });
  }

  /**
   * Records newer revisions of equal inputs for the current release, to compare with at the next
   * look; like {@link refresh}, only while the mark is `since`. `configuration` is the configuration's
   * revision where that is another source.
   *
   * A power cut may undo it, which costs a look: a commit that changes no stack must not wait for
   * the disk once for each of them.
   */
  moveRevision(
    recorded: RecordedRelease,
    { revision, configuration }: Pick<Release, "revision" | "configuration">,
    since: string,
  ): void {
    this.database.casually(() => {
      if (!this.#isAsFound(recorded.key, since)) return;
      const owner = this.#ownerOf(recorded.key);
      const to = { revision, ...(configuration && { configuration }), ...(owner && { owner }) };
      this.releases.move(recorded, to);
    });
  }

  /** Whether what was found of a stack when its mark was `since` still holds, and no change of it is open. */
  #isAsFound(key: StackKey, since: string): boolean {
    return this.mark(key) === since && !this.intents.isOpen(key);
  }

  #record(release: Release, begun: Begun = {}): Intent {
    const { key } = release;
    const { ranBefore = [], there = [], images = {}, owner = this.#ownerOf(key) } = begun;
    const releaseId = this.ids.next();
    const id = this.ids.next();
    const { removeOrphans = false, starts = false, undoes = false, orphans = [] } = begun;
    const options = { removeOrphans, ...(starts && { starts }), ...(undoes && { undoes }) };
    const left = this.intents.unsettled(key);
    const startable = new Set([...there, ...release.services.map(({ name }) => name)]);
    // What a person stopped since is down on purpose.
    const isStopped = this.stops.get(key) !== undefined;
    const mayRun = isStopped ? [] : left?.ranBefore ?? [];
    const leftStopped = mayRun.filter((name) => startable.has(name));
    const ran = [...new Set([...leftStopped, ...ranBefore])];
    const { adoption } = left ?? {};
    const intent: Intent = {
      ...{ id, key, kind: "deploy", releaseId, options, ranBefore: ran },
      ...(adoption && { adoption }),
      ...(orphans.length > 0 && { orphans }),
    };
    this.#takeOver(key);
    this.releases.add(releaseId, release, { images, ...(owner && { owner }) }, this.now());
    this.claims.add(releaseId, begun.claims ?? []);
    this.intents.add(intent, this.now());
    return intent;
  }

  #recordDestroy(
    key: StackKey,
    options: Intent["options"],
    by: StackOwner | undefined,
  ): Intent {
    requireNotHeld(key, this.holds.get(key), "removed");
    const whose = by && { by: plainOwner(by) };
    const id = this.ids.next();
    const intent: Intent = { id, key, kind: "destroy", ...whose, options, ranBefore: [] };
    this.#takeOver(key);
    this.intents.add(intent, this.now());
    return intent;
  }

  #ownerOf(key: StackKey): StackOwner | undefined {
    const owner = this.owners.get(key);
    return owner && plainOwner(owner);
  }

  #takeOver(key: StackKey): void {
    for (const intent of this.intents.leftOpen(key)) {
      this.giveUp(intent, "failed", "interrupted; a later release took its place");
    }
  }
}
