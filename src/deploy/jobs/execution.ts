import type { ContainerRecipe, Engine } from "../../docker/engine.ts";
import {
  COMPOSE_LABELS,
  errors,
  JOB_INFIX,
  LABELS,
  listOf,
  parseJson,
  type StackOwner,
} from "../../model/mod.ts";
import { asRecord, asText } from "../../docker/json.ts";

interface ExecutionFacts {
  readonly runId: string;
  /** Ids of stopped containers that are started again after the run. */
  readonly stops: readonly string[];
  /** In whose name it is made. */
  readonly owner?: StackOwner | undefined;
}

/** The labels on a container or service for a run that tell of the run. */
export function labelsOfRun(
  { runId, stops, owner }: Omit<ExecutionFacts, "stops"> & { readonly stops: readonly unknown[] },
): Readonly<Record<string, string>> {
  return {
    [LABELS.jobRun]: runId,
    [LABELS.jobStops]: JSON.stringify(stops),
    // The job's own container names who had the stack when it was made: a hand-over need not make it anew.
    ...(owner
      ? { [LABELS.sourceConfiguration]: owner.source, [LABELS.jobReference]: owner.reference }
      : {}),
  };
}

/** The owner in whose name a run was made, by its labels; of older versions, the job's container was. */
export function ownerOfRun(labels: Readonly<Record<string, string>>): StackOwner | undefined {
  const { [LABELS.sourceConfiguration]: source, [LABELS.jobReference]: reference = "" } = labels;
  return source === undefined ? undefined : { source, reference };
}

/**
 * Makes a container for one run, like the job's: with its mounts, variables and networks, but
 * without its network names, addresses and ports, and never restarted by the engine. Tells `making`
 * its name before: where the engine goes away meanwhile, it may be there although this rejects.
 *
 * Throws `not_found` when the job's container is gone.
 */
export async function makeExecution(
  engine: Engine,
  source: string,
  execution: ExecutionFacts,
  signal: AbortSignal,
  making: (name: string) => void = () => {},
): Promise<{ readonly id: string; readonly name: string }> {
  const recipe = await engine.containerRecipe(source, signal);
  if (recipe === undefined) {
    throw errors.not_found("the container of the job is gone");
  }
  const name = `${recipe.name}${JOB_INFIX}${execution.runId}`;
  const labels = {
    ...recipe.labels,
    [COMPOSE_LABELS.oneOff]: "True",
    ...labelsOfRun(execution),
  };
  const image = asText(recipe.body["Image"]);
  const imageId = await engine.imageId(recipe.imageId, signal) ??
    await engine.imageId(image, signal);
  if (imageId === undefined) {
    throw errors.pull_failed(`the image ${image} is not on the engine`);
  }
  const made = executionRecipe({ ...recipe, imageId }, name, labels);
  making(name);
  return { id: await engine.createContainer(made, signal), name };
}

function executionRecipe(
  recipe: ContainerRecipe,
  name: string,
  labels: Readonly<Record<string, string>>,
): ContainerRecipe {
  const { MacAddress: _mac, ...body } = recipe.body;
  const { PortBindings: _ports, ...host } = asRecord(body["HostConfig"]);
  const networks = asRecord(asRecord(body["NetworkingConfig"])["EndpointsConfig"]);
  const places = Object.entries(networks).map(([network, place]) => {
    const { Aliases: _names, IPAMConfig: _address, ...rest } = asRecord(place);
    return [network, rest];
  });
  const HostConfig = { ...host, RestartPolicy: { Name: "no" }, AutoRemove: false };
  const NetworkingConfig = { EndpointsConfig: Object.fromEntries(places) };
  const changed = { ...body, Labels: labels, HostConfig, NetworkingConfig };
  return { ...recipe, name, labels, body: changed };
}

/** Ids of the containers to start again after a run, from its label. */
export function stopsOf(labels: Readonly<Record<string, string>>): string[] {
  const list = listOf(parseJson(labels[LABELS.jobStops] ?? ""));
  return list.filter((each) => typeof each === "string");
}
