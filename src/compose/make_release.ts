import {
  COMPOSE_LABELS,
  type ComposeModel,
  LABELS,
  type LiveManifest,
  MANAGER,
  recordOf,
  type Release,
  type ReleaseService,
  STACK_NAMESPACE,
  SWARM_TASK,
} from "../model/mod.ts";
import {
  canonicalJson,
  isObject,
  type JsonObject,
  labelsOf,
  mapMounts,
  mapServices,
  objectAt,
  serviceOf,
  textAt,
} from "./model.ts";
import type { LivePaths } from "./live_paths.ts";
import { rewriteModel } from "./rewrite_model.ts";
import { type DigestInputs, releaseServices } from "./service_digest.ts";
import { asPrinted } from "./tree_paths.ts";

/** All inputs of a release. */
export interface ReleaseParts
  extends
    Omit<Release, "digest" | "services" | "live" | "model">,
    Pick<DigestInputs, "uses" | "inPlace" | "contentOf" | "digest"> {
  /** Whether auto-discovery found the stack. */
  readonly discovered: boolean;
  /** The model as `docker compose config` printed it against `tree`. */
  readonly rendered: ComposeModel;
  /** Directory the model was rendered against. */
  readonly tree: string;
  /** Directory of the stack as seen by the engine's host. */
  readonly stackDirectory: string;
  readonly live: LivePaths;
  readonly liveManifest: LiveManifest;
  /** Networks and volumes, by their engine's name, that exist without our labels. */
  readonly foreignResources: ReadonlySet<string>;
  /** Build arguments outside of the model. */
  readonly buildArguments: Readonly<Record<string, string>>;
}

/** Makes the release; a pure function, so equal parts give an equal release. */
export function makeRelease(parts: ReleaseParts): Release {
  const model = rewriteModel(parts.rendered, {
    tree: parts.tree,
    stackDirectory: parts.stackDirectory,
    placeOf: (path) => parts.live.placeOf(path),
  });
  const { configuration, configurationPaths = {} } = parts.closure;
  const { envFiles: own, configurationEnvFiles = [] } = parts.invocation;
  const envFiles = [
    ...configurationEnvFiles.map((file) => configurationPaths[file] ?? ""),
    ...own.map((file) => parts.contentOf(file)),
  ];
  const variables = envFiles.length === 0
    ? configuration
    : parts.digest(canonicalJson({ configuration, envFiles }));
  const made = releaseServices({
    ...parts,
    model,
    variables,
    environment: parts.invocation.environment,
    buildsImages: parts.swarm === undefined,
    buildArguments: Object.keys(parts.buildArguments).length === 0
      ? ""
      : parts.digest(canonicalJson(parts.buildArguments)),
  });
  const services = parts.swarm === undefined
    ? made
    : made.map((each) => swarmService(each, parts.rendered));
  const { services: _services, ...resources } = model;
  const digests = services.map((service) => [
    service.name,
    service.digest,
    service.expectation.replicas,
    ...(service.inPlace === undefined ? [] : [service.inPlace]),
  ]);
  return {
    key: parts.key,
    revision: parts.revision,
    ...(parts.configuration === undefined ? {} : { configuration: parts.configuration }),
    target: parts.target,
    timeoutSeconds: parts.timeoutSeconds,
    ...(parts.workingDir === undefined ? {} : { workingDir: parts.workingDir }),
    ...(parts.swarm === undefined ? {} : { swarm: parts.swarm }),
    digest: parts.digest(
      canonicalJson({ digests, resources, ...(parts.swarm === undefined ? {} : { swarm: true }) }),
    ),
    services,
    ...(parts.inactive === undefined ? {} : { inactive: parts.inactive }),
    ...(parts.unused === undefined ? {} : { unused: parts.unused }),
    closure: parts.closure,
    live: parts.liveManifest,
    model: withLabels(model, parts, new Map(services.map((each) => [each.name, each.digest]))),
    invocation: parts.invocation,
  };
}

/** Labels of every object of a stack; they must be the same for all of its releases. */
function stableLabels(parts: Pick<ReleaseParts, "key" | "revision" | "target">) {
  return {
    [LABELS.manager]: MANAGER,
    [LABELS.deployment]: parts.key.name,
    [LABELS.target]: parts.target,
    [LABELS.source]: parts.revision.source.kind,
    [LABELS.sourceName]: parts.revision.source.name,
  };
}

/**
 * Further labels of containers, whose change replaces no container. They always name the owner: a
 * missing label would be taken from the image, whose author could claim the stack.
 */
function serviceLabels({ revision, configuration, discovered, swarm }: ReleaseParts) {
  return {
    [LABELS.sourceConfiguration]: configuration?.source.name ?? revision.source.name,
    ...(discovered ? { [LABELS.autoDiscovery]: "true" } : {}),
    ...(swarm === undefined ? { [SWARM_TASK]: "" } : {}),
  };
}

/** Labels by which we recognize our own objects; nobody else may set them. */
const OURS: ReadonlySet<string> = new Set([...Object.values(LABELS), STACK_NAMESPACE]);

/** Prefix of labels of swarm tasks: a container with one would not count as part of its stack. */
const OF_TASKS = "com.docker.swarm.";

function withoutOurs(labels: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    Object.entries(labels).filter(([name]) => !OURS.has(name) && !name.startsWith(OF_TASKS)),
  );
}

/** An external or foreign resource without labels that mark it as ours. */
function unclaimed(resource: unknown): unknown {
  if (!isObject(resource) || resource["labels"] === undefined) return resource;
  return { ...resource, labels: withoutOurs(labelsOf(resource)) };
}

/** Labels by which compose assigns a volume to a project. */
const OF_COMPOSE: ReadonlySet<string> = new Set(Object.values(COMPOSE_LABELS));

/** The service without labels that would assign its volumes to another stack. */
function withoutForged(service: JsonObject): JsonObject {
  const mounted = mapMounts(service, (mount) => {
    const options = mount["volume"];
    if (!isObject(options) || options["labels"] === undefined) return mount;
    const labels = Object.entries(withoutOurs(labelsOf(options)))
      .filter(([name]) => !OF_COMPOSE.has(name));
    return { ...mount, volume: { ...options, labels: Object.fromEntries(labels) } };
  });
  const { deploy } = service;
  return isObject(deploy) ? { ...mounted, deploy: unclaimed(deploy) } : mounted;
}

function withLabels(
  model: ComposeModel,
  parts: ReleaseParts,
  digests: ReadonlyMap<string, string>,
): ComposeModel {
  const stable = stableLabels(parts);
  const labelled = (object: JsonObject, extra: Record<string, string>) => {
    const ours = Object.entries({ ...stable, ...extra })
      .map(([name, text]) => [name, asPrinted(text)]);
    return { ...object, labels: { ...withoutOurs(labelsOf(object)), ...Object.fromEntries(ours) } };
  };
  const own = serviceLabels(parts);
  const withServices = mapServices(
    model,
    (service, name) =>
      labelled(withoutForged(service), { ...own, [LABELS.digest]: digests.get(name) ?? "" }),
  );
  const resources = (kind: "networks" | "volumes") => {
    if (!isObject(model[kind])) return {};
    const entries = Object.entries(objectAt(model, kind)).map(([name, resource]) => {
      const own = recordOf(resource);
      const foreign = own["external"] === true || parts.foreignResources.has(String(own["name"]));
      // A new label on an existing network would make newer compose versions replace it.
      return [name, foreign ? unclaimed(resource) : labelled(own, {})];
    });
    return { [kind]: Object.fromEntries(entries) };
  };
  return { ...withServices, ...resources("networks"), ...resources("volumes") };
}

/**
 * The service as a swarm runs it: it restarts tasks by default, runs a job to its end, and names
 * tasks itself. A global service counts as one, whatever the number of nodes.
 */
function swarmService(service: ReleaseService, rendered: ComposeModel): ReleaseService {
  const definition = serviceOf(rendered, service.name);
  const deploy = objectAt(definition, "deploy");
  const mode = textAt(deploy, "mode");
  const isJob = mode.endsWith("-job");
  const condition = textAt(objectAt(deploy, "restart_policy"), "condition") ||
    (textAt(definition, "restart") === "" ? "any" : "");
  const { place: _place, expectation, ...rest } = service;
  const restarts = !isJob && (condition === "" ? expectation.restarts : condition === "any");
  return {
    ...rest,
    builds: false,
    expectation: {
      ...expectation,
      replicas: mode.startsWith("global") ? 1 : expectation.replicas,
      restarts,
      mayFinish: !restarts,
    },
  };
}
