/** What reads a project, as tests call it with one that has as much as it may have. */
import { Buffer } from "node:buffer";
import * as compose from "../../src/compose/mod.ts";
import { buildPaths } from "../../src/compose/build_paths.ts";
import { beyondBounds } from "../../src/compose/model_bounds.ts";
import { notHandedOver } from "../../src/compose/handed_over.ts";
import { releaseServices } from "../../src/compose/service_digest.ts";
import { refusedTemplates, volumesOf } from "../../src/compose/volume_paths.ts";
import { plainModel } from "../../src/config/mod.ts";
import { changedNetworks } from "../../src/deploy/changed_networks.ts";
import { requireSameVolumes } from "../../src/deploy/changed_volumes.ts";
import { conditionsOf, conditionState } from "../../src/deploy/conditions.ts";
import { keptDependents } from "../../src/deploy/kept_services.ts";
import { remadeBy, requireNoStrangers, withNewNetworks } from "../../src/deploy/new_networks.ts";
import { pathsBelow } from "../../src/deploy/live_inside.ts";
import { modelMounts } from "../../src/deploy/moved_mounts.ts";
import { replaceLost } from "../../src/deploy/lost_networks.ts";
import { applySteps } from "../../src/deploy/apply_steps.ts";
import { waysOf } from "../../src/deploy/in_the_way.ts";
import { groupChanges } from "../../src/deploy/step_groups.ts";
import { findUpdates } from "../../src/deploy/update/update_orders.ts";
import { readiness } from "../../src/deploy/readiness.ts";
import { imagesByService } from "../../src/deploy/rollout.ts";
import { startAgain } from "../../src/deploy/put_back.ts";
import { watchPeriod } from "../../src/deploy/update/update_config.ts";
import { failureOf } from "../../src/deploy/compose/compose_failure.ts";
import { actingCall } from "../../src/deploy/compose/environment.ts";
import { withOwnDockerfiles } from "../../src/deploy/compose/own_dockerfiles.ts";
import { configHash } from "../../src/deploy/engine/config_hash.ts";
import { containerWish } from "../../src/deploy/engine/container_body.ts";
import { requireExternals, usedBy } from "../../src/deploy/engine/ensure_resources.ts";
import { fieldDrift, mountedVolumes } from "../../src/deploy/engine/field_drift.ts";
import { addressKeepers } from "../../src/deploy/engine/gate.ts";
import { injectedFiles } from "../../src/deploy/engine/injected_files.ts";
import {
  hasUnmappedFile,
  notMapped,
  notMappedResource,
} from "../../src/deploy/engine/mapped_keys.ts";
import { buildsFor, imagesBuilt, stayingFor } from "../../src/prepare/builds_for.ts";
import { imagesFetched } from "../../src/deploy/point_tags.ts";
import { earlierImages } from "../../src/prepare/known_images.ts";
import { withoutBuilt } from "../../src/prepare/side_images.ts";
import { secretPlaces } from "../../src/prepare/secret_places.ts";
import { plainResourcesOf, withPlainDollars } from "../../src/deploy/engine/plain_dollars.ts";
import { wantedNetworks, wantedVolumes } from "../../src/deploy/engine/resource_bodies.ts";
import { serviceBody } from "../../src/deploy/swarm/service_body.ts";
import { wantedObjects, wantedStackNetworks } from "../../src/deploy/swarm/stack_objects.ts";
import { meaninglessIn, notForSwarm } from "../../src/deploy/swarm/swarm_keys.ts";
import { requireShortUpdates } from "../../src/deploy/update/short_updates.ts";
import { updateOf, updateRules } from "../../src/deploy/update/update_config.ts";
import type { ContainerDetails, ResourceSummary } from "../../src/docker/engine.ts";
import {
  COMPOSE_LABELS,
  type ComposeModel,
  LABELS,
  MANAGER,
  type ObservedContainer,
  type Release,
  type ReleaseService,
  stackKey,
} from "../../src/model/mod.ts";
import { listedDrift } from "../../src/plan/listed_drift.ts";
import { planFor } from "../../src/plan/plan_for.ts";
import { requireShortEnvironment } from "../../src/prepare/long_values.ts";
import { noteMisspelled } from "../../src/prepare/render_target.ts";
import { requirePlain, withSecrets } from "../../src/prepare/reveal_inputs.ts";
import { createPauses, createRedactor } from "../../src/system/mod.ts";
import { createRecordingLog } from "../fakes/recording_log.ts";
import { TREE } from "./saturated_models.ts";

const LIVE = "/data/releases/default/shop";
const key = stackKey("", "shop");
const revision = {
  source: { kind: "git", url: "https://h/acme/shop", name: "h/acme/shop" },
  reference: "refs/heads/main",
  id: "a".repeat(40),
} as const;
const digest = (text: string) => `sha256:${text.length}:${text.slice(0, 60)}`;
const signal = new AbortController().signal;
const API = "1.45";

const NO_FILES = {
  makeDirectory: () => Promise.resolve(),
  readIfExists: () => Promise.resolve(undefined),
  write: () => Promise.resolve(),
};

/** A project, what was made of it, and what an engine tells of it. */
export interface Saturated {
  readonly model: ComposeModel;
  readonly names: readonly string[];
  readonly uses: readonly compose.TreeUse[];
  readonly parts: compose.ReleaseParts;
  readonly release: Release;
  /** The same services with other digests and inputs, as they were deployed before. */
  readonly before: readonly ReleaseService[];
  /** A container of each service, none of which runs what is wanted. */
  readonly containers: readonly ObservedContainer[];
  /** The same as they are wanted, but stopped. */
  readonly stopped: readonly ObservedContainer[];
  readonly resources: readonly ResourceSummary[];
  /** As people see the model, and as they saw the one before. */
  readonly texts: readonly [string, string];
}

/** Everything that {@link SATURATING} takes of one project. */
export function saturatedOf(model: ComposeModel): Saturated {
  const names = Object.keys(compose.servicesOf(model));
  const uses = compose.treeUses(model, TREE);
  const inPlace = attempt(() => compose.ignoredUses(model, uses)) ??
    { uses: new Set<compose.TreeUse>(), signals: new Map<string, string>(), warnings: [] };
  const parts: compose.ReleaseParts = {
    key,
    revision,
    target: "",
    timeoutSeconds: 60,
    discovered: false,
    rendered: model,
    invocation: { envFiles: [], profiles: [], environment: {} },
    tree: TREE,
    stackDirectory: LIVE,
    uses,
    inPlace,
    live: compose.livePaths(uses, inPlace.uses, () => true),
    liveManifest: { files: {}, directories: [] },
    closure: { configuration: "", complete: true, paths: {} },
    foreignResources: new Set(),
    buildArguments: { A: "b" },
    contentOf: (path) => path,
    digest,
  };
  const release = compose.makeRelease(parts);
  const before = release.services.map((each) => ({
    ...each,
    digest: `${each.digest}-before`,
    inputs: Object.fromEntries(
      Object.entries(each.inputs).map(([name, value]) => [name, `${value}x`]),
    ),
  }));
  const containers = containersOf(before, "running");
  const stopped = containersOf(release.services, "exited");
  const masked = compose.maskedModel(model, { digest });
  return {
    model,
    names,
    uses,
    parts,
    release,
    before,
    containers,
    stopped,
    resources: resourcesOf(model),
    texts: [masked, masked.replaceAll(/"[^"]*",$/gm, '"other",')],
  };
}

function containersOf(
  services: readonly ReleaseService[],
  state: ObservedContainer["state"],
): ObservedContainer[] {
  return [1, 2].flatMap((number) =>
    services.map(({ name, digest, place }) => ({
      id: `${name}-${number}`.padEnd(64, "0"),
      name: `shop-${name}-${number}`,
      service: name,
      state,
      health: "none" as const,
      exitCode: 1,
      imageId: "sha256:1",
      labels: {
        [COMPOSE_LABELS.project]: "shop",
        [COMPOSE_LABELS.number]: String(number),
        [LABELS.manager]: MANAGER,
        [LABELS.digest]: digest,
      },
      hostPorts: Array.from({ length: 60 }, (_, at) => ({
        address: "0.0.0.0",
        port: 1024 + at,
        protocol: "udp",
      })),
      networkIds: [],
      networkNames: (place?.networks ?? []).map((each) => `${each}-other`),
      fixedAddresses: (place?.networks ?? []).map((each) => ({
        network: each,
        address: "10.0.0.1",
      })),
    }))
  );
}

function resourcesOf(model: ComposeModel): ResourceSummary[] {
  return ["networks", "volumes"].flatMap((kind) =>
    Object.values(compose.objectAt(model, kind)).map((each) => ({
      id: `id-${compose.textAt(each as compose.JsonObject, "name")}`,
      name: compose.textAt(each as compose.JsonObject, "name"),
      driver: "other",
      options: { o: "other" },
      labels: { [COMPOSE_LABELS.project]: "other" },
      network: { internal: true, attachable: true, ipv6: true, pools: [] },
    }))
  ) as unknown as ResourceSummary[];
}

const engine = {
  findNetworks: () => Promise.resolve([]),
  findVolumes: () => Promise.resolve([]),
  inspectContainer: () => Promise.resolve(undefined),
  imageVolumes: () => Promise.resolve([]),
} as never;
const forEach = (call: (name: string, made: Saturated) => unknown) => (made: Saturated) => {
  for (const name of made.names) attempt(() => call(name, made));
};
const forServices =
  (call: (service: compose.JsonObject, made: Saturated) => unknown) => (made: Saturated) => {
    for (const each of Object.values(compose.servicesOf(made.model))) {
      attempt(() => call(each, made));
    }
  };

/** Refusing is right, too. */
function attempt<T>(work: () => T): T | undefined {
  try {
    const answer = work();
    if (answer instanceof Promise) answer.catch(() => {});
    return answer;
  } catch {
    return undefined;
  }
}

const detailsOf = (container: ObservedContainer) =>
  ({ container, host: {}, mounts: [], endpoints: {} }) as unknown as ContainerDetails;
const networksOf = ({ model }: Saturated) =>
  Object.keys(compose.objectAt(model, "networks")).map((name) => ({
    key: name,
    name,
    id: name,
    changed: ["driver"],
  }));
const stackParts = ({ model }: Saturated) => ({
  stack: "shop",
  model,
  api: API,
  replicas: {},
  images: {},
  content: {},
  object: (_kind: string, name: string) => ({ id: name, name }),
});

const planOf = (services: readonly Pick<ReleaseService, "name">[]) => ({
  services: services.map(({ name }) => ({ name, action: "create" as const, because: [] })),
});

/** What is called with a whole project, or with each of its services, by its name in `src/`. */
export const SATURATING: Readonly<Record<string, (made: Saturated) => unknown>> = {
  pathsBelow: ({ model }) => pathsBelow(model, "/data/releases/default/shop/live"),
  modelMounts: forEach((name, { model }) => modelMounts(model, name)),
  beyondBounds: ({ model }) => beyondBounds(model),
  tooLargeProject: ({ model }) =>
    [false, true].map((isStack) => compose.tooLargeProject(model, { isStack })),
  namesBuilt: ({ model, release }) =>
    compose.namesBuilt(model, release.services.map(({ name }) => name)),
  buildsOn: ({ model, names }) => names.map(compose.buildsOn(model)),
  buildersOf: ({ model, release }) => {
    const builders = compose.buildersOf(model);
    return release.services.map(({ name, image }) => builders(name, image));
  },
  imagesBuilt: ({ model, release: { services } }) => imagesBuilt({ model, services }),
  imagesFetched: ({ model, release }) => imagesFetched({ model, services: release.services }),
  earlierImages: ({ release: { services } }) =>
    earlierImages({ services: [] }, services, { running: {} }),
  stayingFor: ({ model, release: { services } }) => {
    const built = imagesBuilt({ model, services });
    return stayingFor({ services }, { plan: planOf(services), built, needed: built });
  },
  buildsFor: ({ model, release: { services } }) => {
    const needed = imagesBuilt({ model, services });
    const there = { isMissing: () => true, staying: needed, ran: {} };
    return buildsFor(needed, planOf(services), there);
  },
  withoutBuilt: ({ model, release }) => withoutBuilt(model, release.services),
  dockerfileOf: forServices(({ build }) =>
    compose.dockerfileNames(compose.dockerfileOf(build) ?? "")
  ),
  listedLengths: ({ model }) => compose.listedLengths(model),
  labelsLength: forServices((service) => compose.labelsLength(service)),
  buildPaths: forServices((service, { model }) =>
    buildPaths(compose.objectAt(service, "build"), model)
  ),
  claimsOf: forEach((name, { model }) => compose.claimsOf(model, name)),
  rangesOf: forEach((name, { model }) => compose.rangesOf(model, name)),
  clashes: ({ model, names, containers }) => compose.clashes(model, names, containers),
  // There may be any number of them, which are asked about in pieces.
  stackClaims: ({ release, model }) =>
    compose.stackClaims({ ...release, model }).take(200).toArray(),
  claimsOfContainers: ({ containers }) => compose.claimsOfContainers(containers),
  clashing: ({ model, names }) => {
    const claims = names.map((name) => ({ name, claims: compose.claimsOf(model, name) }));
    return compose.clashing(
      claims,
      claims.map((each) => ({ ...each, name: `${each.name}-other` })),
    );
  },
  portHolders: ({ model, names }) => {
    const ports = names.flatMap((name) => compose.claimsOf(model, name).ports);
    return compose.portHolders([{ hostPorts: ports }])(
      ports.map((each) => ({ ...each, protocol: "udp" })),
    );
  },
  leftOutByCompose: ({ model }) => compose.leftOutByCompose(model),
  requireKnownToEngine: ({ model }) =>
    compose.requireKnownToEngine(model, "a", () => Promise.resolve("1.30")),
  expectationOf: forEach((name, { model }) => compose.expectationOf(name, model)),
  withoutJobs: ({ names, model }) => compose.withoutJobs(names, model),
  replicasOf: forServices((service) => compose.replicasOf(service)),
  restartPolicy: forServices((service) => compose.restartPolicy(service)),
  withFilesVolumes: ({ model }) =>
    compose.withFilesVolumes(model, TREE, (path) => ({ volume: path, name: path }) as never),
  filesVolumes: ({ model }) => compose.filesVolumes(model),
  followsOf: forServices((service) => compose.followsOf(service)),
  sharesOf: forServices((service) => compose.sharesOf(service)),
  dependenciesOf: forServices((service) => compose.dependenciesOf(service)),
  inOrder: ({ release: { services }, names }) => {
    const before = new Map(services.map((each) => [each.name, each.dependsOn]));
    return compose.inOrder(names, (name) => before.get(name) ?? []);
  },
  externalObject: ({ model }) => compose.externalObject(model),
  usedOf: ({ model }) => compose.usedOf(model, "secrets"),
  followedPaths: ({ model }) =>
    [false, true].map((isStack) => compose.followedPaths(model, { isStack })),
  refusedTemplates: ({ model }) => refusedTemplates(model),
  volumesOf: ({ model }) => volumesOf(model, [], []),
  ignoredUses: ({ model, uses }) => compose.ignoredUses(model, uses),
  requireHooksRun: ({ model }) =>
    compose.requireHooksRun(model, "a", () => Promise.resolve("2.26.1")),
  livePaths: ({ uses }) => {
    const half = new Set(uses.filter((_, at) => at % 2 === 0));
    return [true, false].map((exists) => compose.livePaths(uses, half, () => exists));
  },
  makeRelease: ({ parts }) => compose.makeRelease(parts),
  releaseServices: ({ parts, model }) =>
    releaseServices({
      ...{ ...parts, model, variables: "", environment: {}, buildArguments: "" },
      buildsImages: true,
    }),
  maskedModel: ({ model }) => {
    const secrets = Array.from({ length: 5000 }, (_, at) => `aaaa${"aB3-".repeat(at % 20)}${at}`);
    return compose.maskedModel(model, { digest, secrets });
  },
  secretsInModel: ({ model }) => compose.secretsInModel(model, createPauses()),

  stepsToSecrets: ({ release }) => [...compose.stepsToSecrets(release)],
  secretsInVariables: ({ model }) =>
    compose.secretsInVariables(
      model,
      Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`SECRET_${at}`, `value-${at}`])),
    ),
  bindsSay: ({ model }) => compose.bindsSay(model),
  notHandedOver: ({ model }) => notHandedOver(model),
  handedOver: ({ model }) => compose.handedOver(model, new Set()),
  normalModel: ({ model }) => [true, false].map((each) => compose.normalModel(model, each)),
  withExplicitBinds: ({ model }) => compose.withExplicitBinds(model),
  withPlainKeys: ({ model }) => compose.withPlainKeys(model),
  pullsAlways: forEach((name, { release }) => compose.pullsAlways(release, name)),
  pullsNever: forEach((name, { release }) => compose.pullsNever(release, name)),
  requirePullable: ({ release }) => compose.requirePullable(release, release.services),
  rewriteModel: ({ model, parts: { live } }) =>
    compose.rewriteModel(model, { tree: TREE, stackDirectory: LIVE, placeOf: live.placeOf }),
  withBuildPaths: ({ release, model }) => compose.withBuildPaths(release.model, model),
  withBuildArguments: ({ model }) => compose.withBuildArguments(model, { A: "b" }),
  withOwnDockerfiles: ({ model }) => withOwnDockerfiles(NO_FILES, model, "/tmp/none"),
  withOwnCaches: ({ model }) => compose.withOwnCaches(model, () => "ours"),
  sideImages: ({ model, release }) => compose.sideImages(model, release.services),
  askedOrder: forServices((service) => compose.askedOrder(service)),
  isRequired: forServices((service) => compose.isRequired(service)),
  requireStartFirst: ({ model }) => compose.requireStartFirst(requiring(model)),
  startFirstObstacles: ({ model, names }) => names.map(compose.startFirstObstacles(model)),
  sharesWrites: forServices((service) => compose.sharesWrites(service)),
  treeUses: ({ model }) => compose.treeUses(model, TREE),
  volumesFrom: ({ model }) => compose.volumesFrom(model),
  plainModel: ({ texts: [text] }) => plainModel(text),
  planFor: ({ release, before, containers }) =>
    planFor(release, { containers }, {
      kind: "wanted",
      deployed: before,
      policy: { removeOrphans: true },
    }),
  "planFor, stopped": ({ release, stopped }) =>
    planFor(release, { containers: stopped }, { kind: "repaired" }),
  "planFor, nothing there": ({ release }) =>
    planFor(release, { containers: [] }, { kind: "repaired" }),
  "planFor, one of a chain": ({ release, release: { services }, before, stopped }) => {
    const containers = stopped.map((each) => ({ ...each, state: "running" as const }));
    const last = services.at(-1)?.name ?? "";
    const asked = [services[0]?.name ?? "", last, "s499"];
    return [
      planFor(release, { containers }, { kind: "recreated", asked }),
      planFor(release, { containers }, {
        kind: "taken_back",
        failed: before,
        removeOrphans: true,
      }),
    ];
  },
  listedDrift: ({ release, containers, stopped }) =>
    [containers, stopped].map((each) => listedDrift(release, { containers: each })),
  changedNetworks: ({ model, resources }) => changedNetworks(model, resources, () => model),
  plainResourcesOf: ({ model }) => plainResourcesOf(model, "networks"),
  requireSameVolumes: ({ model, resources }) => requireSameVolumes(model, resources),
  conditionsOf: ({ model, names, release: { services }, stopped }) => {
    const half = names.filter((_, at) => at % 2 === 0);
    const conditions = conditionsOf(model, half, { desired: services, running: new Set() });
    return conditionState(conditions, { containers: stopped });
  },
  keptDependents: ({ release: { services }, stopped }) =>
    ["s0", "s499"].map((each) =>
      keptDependents(new Set([each]), services, { containers: stopped })
    ),
  remadeBy: (made) => {
    const scale = Object.fromEntries(made.release.services.map(({ name }) => [name, 1]));
    const steps = [{ kind: "up", mode: "replace", scale, noStart: false } as const];
    return remadeBy(networksOf(made), steps, made.release.model);
  },
  withNewNetworks: (made) => {
    const { release, stopped: containers } = made;
    const keep = release.services.map(({ name }) => ({
      name,
      action: "keep" as const,
      because: [],
    }));
    return withNewNetworks(keep, networksOf(made), { release, observed: { containers } });
  },
  requireNoStrangers: (made) => {
    const services = made.names.map((name) => ({ name, action: "recreate" as const, because: [] }));
    const connected = made.stopped.map((each) => ({
      ...each,
      networkIds: networksOf(made).map(({ id }) => id),
    }));
    return requireNoStrangers(networksOf(made), connected, { release: made.release, services });
  },
  replaceLost: ({ release: { services }, stopped }) => {
    const plans = services.map(({ name }) => ({ name, action: "start" as const, because: [] }));
    const cut = stopped.map((each) => ({ ...each, networkIds: ["a", "b"] }));
    return replaceLost(engine, plans, { desired: services, observed: { containers: cut } }, signal);
  },
  readiness: ({ release: { services }, stopped }) => readiness(services, { containers: stopped }),
  imagesByService: ({ stopped }) => imagesByService({ containers: stopped }),
  startAgain: ({ release: { services }, names, stopped }) =>
    startAgain([], names, { desired: services, observed: { containers: stopped } }),
  groupChanges: ({ release: { services }, names }) => {
    const before = new Map(services.map((each) => [each.name, each.dependsOn]));
    // Each waits for one of another kind, or only the first one does.
    return [(at: number) => at % 2, (at: number) => Math.min(at, 1)].map((kindOf) => {
      const changes = names.map((name, at) => ({ name, kind: `k${kindOf(at)}` }));
      return groupChanges(changes, ["k1", "k0"], (name) => before.get(name) ?? []);
    });
  },
  waysOf: ({ model, names, containers }) => {
    const ways = waysOf({ model, previousModel: model, containers });
    return [ways.inTheWay(names, names), ways.exchange(names)];
  },
  applySteps: ({ model, names, containers, release: { services: desired } }) =>
    (["recreate", "create"] as const).map((other) =>
      applySteps({
        services: names.map((name, at) => ({
          name,
          action: at % 2 === 0 ? "recreate" : other,
          because: [],
        })),
        desired,
        model,
        previousModel: model,
        containers,
        running: new Set(),
        rolled: new Set(names.filter((_, at) => at % 3 === 0)),
      })
    ),
  findUpdates: ({ model, names, containers, release: { services } }) => {
    const asking = compose.mapServices(model, (each) => ({
      ...each,
      labels: { "stackwright.update.shares_writes": "true" },
      deploy: { update_config: { order: "start-first" } },
    }));
    const asked = {
      release: { model: asking, services },
      services: names.map((name) => ({ name, action: "recreate" as const, because: [] })),
      observed: { containers },
      previousModel: () => asking,
    };
    return findUpdates(engine, asked, signal);
  },
  watchPeriod: forEach((name, { model }) => watchPeriod(model, name, 0)),
  actingCall: ({ model }) => actingCall({}, {}, model, { makesContainers: false }),
  configHash: forServices((service) => configHash(service, "2.26.1")),
  containerWish: forEach((name, { model }) =>
    containerWish({
      model,
      service: name,
      number: 1,
      api: API,
      labels: {},
      variables: {},
      idOf: () => "a",
      inherited: Array.from({ length: 40 }, (_, at) => ({
        kind: "volume",
        source: "",
        name: "0".repeat(64),
        destination: `/data/${at}`,
        writable: true,
      })) as never,
      imageVolumes: new Set(Array.from({ length: 40 }, (_, at) => `/data/${at}`)),
    })
  ),
  usedBy: ({ model, names }) => usedBy(model, names),
  requireExternals: ({ model, names }) => requireExternals(engine, model, names, signal),
  fieldDrift: ({ model, stopped }) => stopped.map((each) => fieldDrift(model, detailsOf(each), 1)),
  mountedVolumes: forEach((name, { model }) => mountedVolumes(model, name)),
  addressKeepers: ({ model, resources }) => addressKeepers(resources, model, API),
  injectedFiles: forEach((name, { model }) => injectedFiles(model, name, {})),
  notMapped: forEach((name, { model }) => notMapped(model, name)),
  notMappedResource: ({ model }) => notMappedResource(model),
  hasUnmappedFile: forEach((name, { model }) =>
    hasUnmappedFile(model, compose.serviceOf(model, name))
  ),
  secretPlaces: ({ model }) => secretPlaces(model),
  withPlainDollars: ({ model }) => withPlainDollars(model),
  wantedNetworks: ({ model }) => wantedNetworks(model, API),
  wantedVolumes: ({ model }) => wantedVolumes(model),
  serviceBody: (made) => forEach((name) => serviceBody(name, stackParts(made)))(made),
  wantedObjects: ({ model }) =>
    wantedObjects(model, { stack: "shop", digest, content: () => Buffer.from("a") } as never),
  wantedStackNetworks: ({ model }) => wantedStackNetworks(model, API, "shop"),
  notForSwarm: ({ model }) => notForSwarm(model),
  meaninglessIn: ({ model }) => meaninglessIn(model),
  requireShortUpdates: ({ model }) => requireShortUpdates(model),
  updateOf: forEach((name, { model }) => [updateOf(model, name), updateRules(model, name, "back")]),
  requireShortEnvironment: ({ model }) => requireShortEnvironment(model),
  noteMisspelled: ({ model }) => noteMisspelled({ log: createRecordingLog() }, { key }, model),
  requirePlain: ({ model }) =>
    requirePlain(model, { failures: new Map([["a", new Error("b")]]) } as never),
  withSecrets: ({ model }) =>
    withSecrets(
      { envFiles: [], profiles: [], environment: {} },
      model,
      {
        decrypted: Array.from({ length: 5 }, (_, at) => `aB3-${at}`),
        plain: [],
        hides: () => true,
      } as never,
    ),
  failureOf: ({ model, names }) => {
    // What a registry answers, which the engine and compose repeat: a mebibyte of it is kept.
    const said = names.map((name) => ` ${name} Error not found\n`);
    const stderr = said.join("") + Array.from({ length: 130_000 }, (_, at) => `x${at}\n`).join("");
    return failureOf("pull_failed", {
      result: { code: 1, stdout: "", stderr } as never,
      command: { argv: ["docker-compose", "pull"], env: {} },
      project: { name: "shop", directory: "/", files: [], envFiles: [], profiles: [] },
      model,
    });
  },
  "the redactor": ({ texts: [text] }) => {
    const redactor = createRedactor();
    for (let at = 0; at < 5000; at++) redactor.add(`aB3-aB3-aB3-${at}`);
    return redactor.redact(text);
  },
};

/** The same with the label that forbids every other order. */
function requiring(model: ComposeModel): ComposeModel {
  const services = Object.entries(compose.servicesOf(model)).map(([name, service]) => [name, {
    ...service,
    labels: { "stackwright.update.require": "start-first" },
  }]);
  return { ...model, services: Object.fromEntries(services) };
}
