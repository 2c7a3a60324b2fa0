import { type ComposeModel, errors, fewOf } from "../../model/mod.ts";
import { sleepingUntil, withDeadline } from "../../system/mod.ts";
import { type Backend, type Changes, composeBackend } from "../backend.ts";
import type { EngineBackendParts, EngineWork } from "./engine_work.ts";
import { ensureResources } from "./ensure_resources.ts";
import { makeContainers } from "./make_containers.ts";
import { notMapped, notMappedResource } from "./mapped_keys.ts";
import { withPlainDollars } from "./plain_dollars.ts";
import { rollServices } from "./roll_services.ts";
import { startContainers } from "./start_containers.ts";
import { swapContainers } from "./swap_containers.ts";
import { composeStarts, upByCompose } from "./up_by_compose.ts";
import { isObject } from "../../compose/mod.ts";
import { requireInternal } from "./require_internal.ts";
import { wantedNetworks, wantedVolumes } from "./resource_bodies.ts";
import { resourcesOf } from "../../compose/resources.ts";

/**
 * A backend that makes networks, volumes and containers through the Engine API, in the same order
 * and with the same intermediate states as docker compose. A step that has services with unknown
 * keys is left to compose as a whole, since its services may share something.
 */
export function createEngineBackend(parts: EngineBackendParts): Backend {
  const compose = composeBackend(parts.compose);
  return {
    async up(given, signal) {
      const rendered = given.call.model ?? {};
      const model = withPlainDollars(rendered);
      const log = parts.log.with({ stack: given.key.name, context: given.key.context });
      const strange = notMappedResource(model);
      const starts = given.noStart ? undefined : composeStarts(model, Object.keys(given.scale));
      const changes: Changes = {
        ...given,
        requireAllowed: async (within) => await given.requireAllowed?.(within, starts),
      };
      const api = await parts.engine.apiVersion(signal);
      const tell = (line: string) => parts.quiet ? log.debug(line) : log.info(line);
      const work: EngineWork = { parts, changes, model, api, tell };
      const unmapped = Object.keys(changes.scale).map((name) => notMapped(model, name))
        .find((each) => each !== undefined);
      const because = strange ?? unmapped;
      if (because !== undefined) log.debug(`made by docker compose: ${because}`);
      await withDeadline(deadline(work), async (within) => {
        const there = strange === undefined ? undefined : await keysThere(work, within);
        if (there === undefined) await ensureResources(work, within);
        else await changes.requireAllowed?.(within);
        if (because === undefined) return await change(work, within);
        // Compose does not compare external resources: it might remake networks, with all that is in
        // them stopped, or ask about volumes. What is to be made anew was removed by now.
        const call = { ...changes.call, model: asExternal(rendered, there) };
        await upByCompose({ ...work, changes: { ...changes, call } }, { compose, starts }, within);
      }, signal);
    },
  };
}

async function change(work: EngineWork, signal: AbortSignal): Promise<void> {
  if (work.changes.mode === "roll") return await rollServices(work, signal);
  const made = await makeContainers(work, signal);
  await swapContainers(work, made, signal);
  if (!work.changes.noStart) await startContainers(work, made, signal);
}

function deadline({ parts, changes }: EngineWork) {
  const names = fewOf(Object.keys(changes.scale));
  return {
    clock: sleepingUntil(parts.clock),
    milliseconds: changes.timeoutMs,
    late: () =>
      errors.timeout(
        `containers of ${names} were not made and started within the deployment's timeout`,
      ),
  };
}

/** The keys of a model's networks and volumes that are there. Throws as {@link requireInternal} does. */
async function keysThere(
  { parts: { engine }, model, api }: EngineWork,
  signal: AbortSignal,
): Promise<KeysThere> {
  const networks = wantedNetworks(model, api);
  const volumes = wantedVolumes(model);
  const found = await engine.findNetworks(networks.map(({ name }) => name), signal);
  requireInternal(networks, found);
  const keys = (
    wanted: readonly { readonly key: string; readonly name: string }[],
    there: readonly { readonly name: string }[],
  ) => {
    const names = new Set(there.map(({ name }) => name));
    return new Set(wanted.filter(({ name }) => names.has(name)).map(({ key }) => key));
  };
  return {
    networks: keys(networks, found),
    volumes: keys(volumes, await engine.findVolumes(volumes.map(({ name }) => name), signal)),
  };
}

type KeysThere = Readonly<Record<"networks" | "volumes", ReadonlySet<string>>>;

/** A model with its networks and volumes external, all or those that are there, so that compose leaves them alone. */
function asExternal(model: ComposeModel, there: KeysThere | undefined): ComposeModel {
  const external = (kind: "networks" | "volumes") => {
    if (!isObject(model[kind])) return {};
    const entries = resourcesOf(model, kind).filter(({ key }) => there?.[kind].has(key) !== false)
      .map(({ key, name }) => [key, { name, external: true }]);
    return { [kind]: { ...there && model[kind], ...Object.fromEntries(entries) } };
  };
  return { ...model, ...external("networks"), ...external("volumes") };
}
