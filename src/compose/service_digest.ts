import type { ComposeModel, ReleaseService, ServicePlace } from "../model/mod.ts";
import {
  canonicalJson,
  isObject,
  type JsonObject,
  objectAt,
  objectsAt,
  servicesOf,
  textAt,
} from "./model.ts";
import { imageReference } from "./built_names.ts";
import { expectationOf } from "./expectation.ts";
import { dependenciesOf, followsOf, inOrder } from "./follows.ts";
import type { IgnoredUses } from "./ignored_uses.ts";
import { sideImages } from "./side_images.ts";
import type { TreeUse } from "./tree_paths.ts";
import { resourceName } from "./resources.ts";

/** What the digests of services cover. */
export interface DigestInputs {
  /** The rendered model, with numbers of replicas. */
  readonly rendered: ComposeModel;
  /** The model with stable paths, as containers get it. */
  readonly model: ComposeModel;
  readonly uses: readonly TreeUse[];
  /** Uses that change in place, and signals to send afterwards. */
  readonly inPlace: IgnoredUses;
  /** Content id of a path of the tree; `absent` for a missing one. */
  contentOf(path: string): string;
  /** Digest of all variables, for configs and secrets from a variable outside of `environment`. */
  readonly variables: string;
  /** Values of individually known variables. */
  readonly environment: Readonly<Record<string, string>>;
  /** Digest of the build arguments outside of the model; empty without any. */
  readonly buildArguments: string;
  /** Keyed digest of a text. */
  digest(text: string): string;
}

/**
 * The services of a release with their digests, which cover the definition for compose, the
 * definitions of networks, volumes, configs and secrets in use, the content of every file that is
 * mounted, read or built from, and the digests of followed services.
 */
export function releaseServices(inputs: DigestInputs): ReleaseService[] {
  const services = servicesOf(inputs.model);
  const names = Object.keys(services);
  const follows = (name: string) => Object.keys(followsOf(services[name] ?? {}));
  const digests = new Map<string, string>();
  const result = inOrder(names, follows).map((name) => {
    const service = releaseService(name, services[name] ?? {}, inputs, digests);
    digests.set(name, service.digest);
    return service;
  });
  return withSideImages(result, inputs.model).sort((a, b) => a.name < b.name ? -1 : 1);
}

/** Adds images besides the services' own, except for those that the release builds itself. */
function withSideImages(services: readonly ReleaseService[], model: ComposeModel) {
  const built = new Set(services.filter((each) => each.builds).map(({ image }) => image));
  return services.map((each) => {
    const images = sideImages(model, [each]).map(({ image }) => image);
    const needed = images.filter((image) => !built.has(image));
    return needed.length === 0 ? each : { ...each, sideImages: needed };
  });
}

function releaseService(
  name: string,
  definition: JsonObject,
  inputs: DigestInputs,
  digests: ReadonlyMap<string, string>,
): ReleaseService {
  const parts: Record<string, string> = {
    definition: inputs.digest(canonicalJson(withResources(definition, inputs.model))),
  };
  const uses = inputs.uses.filter((each) => each.service === name);
  for (const use of uses.filter((each) => !inputs.inPlace.uses.has(each))) {
    const kind = use.kind === "build" ? "build" : "file";
    parts[`${kind}:${use.path}`] = inputs.contentOf(use.path);
  }
  const follows = followsOf(definition);
  for (const followed of Object.keys(follows)) {
    const digest = digests.get(followed);
    if (digest !== undefined) parts[`follows:${followed}`] = digest;
  }
  Object.assign(parts, variableParts(definition, inputs));
  const builds = isObject(definition["build"]);
  if (builds && inputs.buildArguments !== "") parts["build_arguments"] = inputs.buildArguments;
  return {
    name,
    digest: inputs.digest(canonicalJson(parts)),
    inputs: parts,
    expectation: expectationOf(name, inputs.rendered),
    image: builds ? imageReference(inputs.model, name) : textAt(definition, "image"),
    builds,
    ...inPlaceFiles(name, uses, inputs),
    follows,
    dependsOn: dependenciesOf(definition),
    place: placeOf(definition, inputs.model),
  };
}

function placeOf(definition: JsonObject, model: ComposeModel): ServicePlace {
  const names = Object.keys(objectAt(definition, "networks")).map((key) =>
    resourceName(model, "networks", key)
  );
  return { containerName: textAt(definition, "container_name"), networks: names.sort() };
}

function inPlaceFiles(name: string, uses: readonly TreeUse[], inputs: DigestInputs) {
  const own = uses.filter((each) => inputs.inPlace.uses.has(each));
  if (own.length === 0) return {};
  const files = Object.fromEntries(own.map((use) => [use.path, inputs.contentOf(use.path)]));
  const signal = inputs.inPlace.signals.get(name);
  return { inPlace: { files, ...(signal === undefined ? {} : { signal }) } };
}

/** A definition with those of the top-level resources that it refers to by name. */
function withResources(definition: JsonObject, model: ComposeModel): JsonObject {
  const named = (kind: string, names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, objectAt(model, kind)[name]]));
  return {
    definition,
    networks: named("networks", Object.keys(objectAt(definition, "networks"))),
    volumes: named("volumes", sources(definition, "volumes")),
    configs: named("configs", sources(definition, "configs")),
    secrets: named("secrets", sources(definition, "secrets")),
  };
}

function sources(definition: JsonObject, kind: string): string[] {
  return objectsAt(definition, kind)
    .filter((each) => kind !== "volumes" || each["type"] === "volume")
    .map((each) => textAt(each, "source")).filter((name) => name !== "");
}

/** Digests of the variables that configs and secrets of the service take their values from. */
function variableParts(definition: JsonObject, inputs: DigestInputs): Record<string, string> {
  const parts: Record<string, string> = {};
  for (const kind of ["configs", "secrets"]) {
    for (const name of sources(definition, kind)) {
      const variable = textAt(objectAt(objectAt(inputs.model, kind), name), "environment");
      if (variable === "") continue;
      const value = Object.hasOwn(inputs.environment, variable)
        ? inputs.environment[variable]
        : undefined;
      if (value === undefined) parts["variables"] = inputs.variables;
      else parts[`variable:${variable}`] = inputs.digest(value);
    }
  }
  return parts;
}
