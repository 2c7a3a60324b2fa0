import type { Engine } from "../../docker/engine.ts";
import type { SwarmService } from "../../docker/swarm.ts";
import {
  byText,
  errors,
  fewOf,
  requestError,
  type StackKey,
  StackwrightError,
  toStackwrightError,
} from "../../model/mod.ts";
import { type LockParts, withinLock } from "../within_lock.ts";
import { destroyServices } from "./destroy_services.ts";
import { isRunOfJob, shortName, tasksByService } from "./observed_services.ts";
import { changeOf, type StackOrder } from "./stack_actions.ts";
import { postAgain } from "./post_again.ts";
import { STACK_LABELS } from "./stack_parts.ts";
import { waitConverged } from "./wait_converged.ts";
import {
  counted,
  PAST,
  type StackActionResult,
  type StackControl,
  type StackService,
} from "./stack_service.ts";

interface StacksParts extends LockParts {
  readonly engine: Engine;
  /** Whether the engine manages a swarm and swarm features are enabled. */
  readonly isManager: (signal: AbortSignal) => Promise<boolean>;
  /** Removes a stack that the ledger knows, except for its volumes; false for an unknown stack. */
  readonly destroyRecorded: (key: StackKey, signal: AbortSignal) => Promise<boolean>;
}

/**
 * The stacks of a swarm, whether Stackwright deployed them or not. Every change holds the stack's
 * lock, so it never meets a deployment. Changes made here are not permanent: the next deployment or
 * drift check restores the stack's file.
 *
 * Every call throws `conflict` if the engine manages no swarm, and what the engine throws.
 */
export class Stacks {
  readonly #parts: StacksParts;

  constructor(parts: StacksParts) {
    this.#parts = parts;
  }

  /** The services of every stack by its name, both sorted. */
  async list(signal: AbortSignal): Promise<ReadonlyMap<string, readonly StackService[]>> {
    await this.#requireSwarm(signal);
    const all = await this.#read(undefined, signal);
    const stacks = Map.groupBy(all, ({ service }) => service.labels[STACK_LABELS.namespace] ?? "");
    return new Map([...stacks].sort(([a], [b]) => byText(a, b)));
  }

  /** The services of a stack, sorted by name. Throws `not_found`. */
  async describe(key: StackKey, signal: AbortSignal): Promise<readonly StackService[]> {
    await this.#requireSwarm(signal);
    return await this.#services(key, signal);
  }

  /**
   * Scales, restarts or runs services, one after the other, and returns the result for each. A
   * restart or a run counts as done when the engine accepted it.
   *
   * Throws `not_found` for a missing stack or service, and if the action applies to none of them;
   * `conflict` for a named service that it does not apply to; `unhealthy` and `timeout`. After a
   * failure, services that were changed before stay changed, and the error names them.
   */
  async control(
    key: StackKey,
    { order, service, wait, timeoutSeconds }: StackControl,
    signal: AbortSignal,
  ): Promise<readonly StackActionResult[]> {
    const { clock, told } = this.#parts;
    const ready = async (waiting: AbortSignal) => {
      const chosen = await this.#chosen(key, service, waiting);
      requireOne(key, chosen, { order, named: service !== undefined });
      return chosen;
    };
    const work = (within: AbortSignal, chosen: readonly SwarmService[]) =>
      told(key, order.action, async (owned) => {
        const deadline = clock.uptime() + timeoutSeconds * 1000;
        const results: StackActionResult[] = [];
        for (const { name } of chosen) {
          results.push(await this.#change(key, { name, order, done: results }, owned));
        }
        if (order.action === "scale" && wait) await this.#converged(key, results, deadline, owned);
        return results;
      }, within);
    await this.#requireSwarm(signal);
    const bounded = { key, what: "stack", timeoutSeconds, ready };
    return await withinLock(this.#parts, bounded, work, signal);
  }

  /** Removes a stack, except its volumes. May be called again. Throws `not_found` and `timeout`. */
  async remove(
    key: StackKey,
    { timeoutSeconds }: { readonly timeoutSeconds: number },
    signal: AbortSignal,
  ): Promise<void> {
    const { engine, clock, destroyRecorded, told } = this.#parts;
    const remove = async (within: AbortSignal) => {
      if (await destroyRecorded(key, within)) return;
      await this.#services(key, within);
      await destroyServices({ engine, clock }, { key, removeVolumes: false }, within);
    };
    await this.#requireSwarm(signal);
    const bounded = { key, what: "stack", timeoutSeconds, isFirst: true };
    const removed = (within: AbortSignal) => told(key, "remove", remove, within);
    await withinLock(this.#parts, bounded, removed, signal);
  }

  async #requireSwarm(signal: AbortSignal): Promise<void> {
    if (await this.#parts.isManager(signal)) return;
    throw errors.conflict(
      "swarm features are disabled, or the container engine is not an active swarm manager",
    );
  }

  async #read(stack: string | undefined, signal: AbortSignal): Promise<StackService[]> {
    const { swarm } = this.#parts.engine;
    const label = { [STACK_LABELS.namespace]: stack };
    const services = (await swarm.services(label, signal))
      .filter((each) => !isRunOfJob(each));
    const tasksOf = tasksByService(services.length === 0 ? [] : await swarm.tasks(label, signal));
    return services.sort((a, b) => byText(a.name, b.name))
      .map((each) => counted(each, tasksOf(each)));
  }

  async #services(key: StackKey, signal: AbortSignal): Promise<StackService[]> {
    const found = await this.#read(key.name, signal);
    if (found.length === 0) throw unknown("stack");
    return found;
  }

  async #chosen(
    key: StackKey,
    service: string | undefined,
    signal: AbortSignal,
  ): Promise<SwarmService[]> {
    const all = (await this.#services(key, signal)).map(({ service }) => service);
    if (service === undefined) return all;
    const name = `${key.name}_${service}`;
    const found = all.filter((each) => each.name === name);
    if (found.length === 0) throw unknown("service");
    return found;
  }

  /** Reads the service anew each time: the engine only accepts a change of its current version. */
  async #change(
    key: StackKey,
    { name, order, done }: {
      readonly name: string;
      readonly order: StackOrder;
      readonly done: readonly StackActionResult[];
    },
    signal: AbortSignal,
  ): Promise<StackActionResult> {
    const { swarm } = this.#parts.engine;
    try {
      return await postAgain(async () => {
        const all = await swarm.services({ [STACK_LABELS.namespace]: key.name }, signal);
        const now = all.find((each) => each.name === name);
        if (now === undefined) throw unknown("service");
        const change = changeOf(now, order);
        if ("skipped" in change) return { service: name, skipped: change.skipped };
        // Without credentials the engine keeps the earlier ones.
        await swarm.updateService(now, { body: change.body, auth: "" }, signal);
        return { service: name };
      });
    } catch (thrown) {
      signal.throwIfAborted();
      const { code, message } = toStackwrightError(thrown, `${order.action} of ${name}`);
      const before = done.filter(({ skipped }) => skipped === undefined);
      const stays = before.length === 0
        ? ""
        : `; done before: ${fewOf(before.map(({ service }) => service))}`;
      throw new StackwrightError(code, `service ${name}: ${message}${stays}`, { cause: thrown });
    }
  }

  async #converged(
    key: StackKey,
    results: readonly StackActionResult[],
    deadline: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { engine, clock } = this.#parts;
    const now = await engine.swarm.services({ [STACK_LABELS.namespace]: key.name }, signal);
    // A scaled job runs to its end, which is not awaited.
    const scaled = results.filter(({ service, skipped }) =>
      skipped === undefined &&
      now.some((each) => each.name === service && each.mode.kind === "replicated")
    );
    const services = new Map(
      scaled.map(({ service }) => [shortName(key.name, service), { waitsForEnd: false }]),
    );
    const wait = { engine, clock, stack: key.name, services, deadline, progress: () => {} };
    await waitConverged(wait, signal);
  }
}

/** Requires a service that the action applies to: the named one, or at least one of all. */
function requireOne(
  key: StackKey,
  chosen: readonly SwarmService[],
  { order, named }: { readonly order: StackOrder; readonly named: boolean },
): void {
  const skipped = chosen.map((each) => changeOf(each, order))
    .flatMap((each) => "skipped" in each ? [each.skipped] : []);
  if (skipped.length < chosen.length) return;
  const [name = ""] = chosen.map((each) => each.name);
  if (named) {
    throw errors.conflict(`service ${name} is not ${PAST[order.action]}: ${skipped[0]}`);
  }
  const what = order.action === "run"
    ? "job services found to retrigger"
    : `services found to ${order.action}`;
  throw errors.not_found(`no ${what} in stack: ${key.name}`);
}

function unknown(what: "stack" | "service"): StackwrightError {
  const detail = `no ${what} of this context has this name; GET /v1/api/stacks lists them`;
  return requestError(`${what} not found`, detail, "not_found");
}
