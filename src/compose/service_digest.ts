import { type ComposeModel, own, type ReleaseService, type ServicePlace } from "../model/mod.ts";
import {
  canonicalJson,
  isObject,
  type JsonObject,
  objectAt,
  serviceOf,
  servicesOf,
  textAt,
} from "./model.ts";
import { buildersOf, buildsOn, imageReference } from "./built_names.ts";
import { expectationOf } from "./expectation.ts";
import { dependenciesOf, followsOf, inOrder } from "./follows.ts";
import type { IgnoredUses } from "./ignored_uses.ts";
import { sideImages } from "./side_images.ts";
import type { TreeUse } from "./tree_paths.ts";
import { RESOURCE_KINDS, resourceUses } from "./resource_uses.ts";
import { type ResourceKind, resourceName, resourcesOf } from "./resources.ts";

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
  /** Whether builds give images their names: a swarm runs those of registries. */
  readonly buildsImages: boolean;
  /** Keyed digest of a text. */
  digest(text: string): string;
}

/**
 * The services of a release with their digests, which cover the definition for compose, the
 * definitions of networks, volumes, configs and secrets in use, the content of every file that is
 * mounted, read or built from, also by another service that builds its image, and the digests of
 * followed services.
 */
export function releaseServices(inputs: DigestInputs): ReleaseService[] {
  const services = servicesOf(inputs.model);
  const names = Object.keys(services);
  const follows = (name: string) => Object.keys(followsOf(services[name] ?? {}));
  const digests = new Map<string, string>();
  const known = { ...inputs, ...shared(inputs) };
  const result = inOrder(names, follows).map((name) => {
    const service = releaseService(name, services[name] ?? {}, known, digests);
    digests.set(name, service.digest);
    return service;
  });
  return result.sort((a, b) => a.name < b.name ? -1 : 1);
}

/** What services have in common, done once: hundreds may name one that is megabytes long. */
interface Shared {
  readonly usesOf: ReadonlyMap<string, readonly TreeUse[]>;
  /** Canonical texts of resources, by kind and key. */
  readonly texts: ReadonlyMap<ResourceKind, ReadonlyMap<string, string>>;
  /** Digests of the variables that configs and secrets take their values from. */
  readonly values: ReadonlyMap<string, string>;
  /** The services whose builds the build of a service takes. */
  readonly builtOn: (service: string) => readonly string[];
  /** Digests of builds that others take, each made once. */
  readonly builds: Map<string, string>;
  /** The services whose builds give an image that a service names. */
  readonly builders: ReturnType<typeof buildersOf>;
  /** Digests of the builds that give an image, by its name. */
  readonly images: Map<string, string>;
}

function shared(inputs: DigestInputs): Shared {
  const { model, environment, digest, uses } = inputs;
  const texts = RESOURCE_KINDS.map((kind) => {
    const all = Object.entries(objectAt(model, kind));
    return [kind, new Map(all.map(([key, value]) => [key, canonicalJson(value)]))] as const;
  });
  const variables = [...resourcesOf(model, "configs"), ...resourcesOf(model, "secrets")]
    .map(({ definition }) => textAt(definition, "environment"));
  const values = [...new Set(variables)].flatMap((name) => {
    const value = name === "" ? undefined : own(environment, name);
    return value === undefined ? [] : [[name, digest(value)] as const];
  });
  const usesOf = Map.groupBy(uses, ({ service }) => service);
  return {
    ...{ usesOf, texts: new Map(texts), values: new Map(values) },
    ...{ builtOn: buildsOn(model), builds: new Map(), images: new Map() },
    builders: inputs.buildsImages ? buildersOf(model) : () => [],
  };
}

function releaseService(
  name: string,
  definition: JsonObject,
  inputs: DigestInputs & Shared,
  digests: ReadonlyMap<string, string>,
): ReleaseService {
  const parts: Record<string, string> = {
    definition: inputs.digest(withResources(definition, inputs)),
  };
  const uses = inputs.usesOf.get(name) ?? [];
  for (
    const use of uses.filter((each) => each.kind !== "build" && !inputs.inPlace.uses.has(each))
  ) {
    parts[`file:${use.path}`] = inputs.contentOf(use.path);
  }
  Object.assign(parts, buildParts(name, inputs));
  const follows = followsOf(definition);
  for (const followed of Object.keys(follows)) {
    const digest = digests.get(followed);
    if (digest !== undefined) parts[`follows:${followed}`] = digest;
  }
  Object.assign(parts, variableParts(definition, inputs));
  const ownBuild = isObject(definition["build"]);
  const image = ownBuild ? imageReference(inputs.model, name) : textAt(definition, "image");
  const beside = sideImages(inputs.model, [{ name, image }]).map((each) => each.image);
  const built = imageParts(name, [image, ...beside], inputs);
  Object.assign(parts, built);
  if ((ownBuild || Object.keys(built).length > 0) && inputs.buildArguments !== "") {
    parts["build_arguments"] = inputs.buildArguments;
  }
  return {
    name,
    digest: inputs.digest(canonicalJson(parts)),
    inputs: parts,
    expectation: expectationOf(name, inputs.rendered),
    image,
    builds: inputs.builders(name, image).length > 0,
    ...(beside.length === 0 ? {} : { sideImages: beside }),
    ...inPlaceFiles(name, uses, inputs),
    follows,
    dependsOn: dependenciesOf(definition),
    place: placeOf(definition, inputs.model),
  };
}

/** What a service is built from: files, secrets, and the builds of other services, with all that is in these. */
function buildParts(name: string, inputs: DigestInputs & Shared): Record<string, string> {
  const parts: Record<string, string> = {};
  for (const { kind, path } of inputs.usesOf.get(name) ?? []) {
    if (kind === "build") parts[`build:${path}`] = inputs.contentOf(path);
  }
  for (const other of inputs.builtOn(name)) parts[`built:${other}`] = buildDigest(other, inputs);
  return inputs.buildsImages ? { ...parts, ...secretParts(name, inputs) } : parts;
}

/** The secrets that a build takes from variables; those from files are files that it is built from. */
function secretParts(name: string, inputs: DigestInputs & Shared): Record<string, string> {
  const { secrets } = objectAt(serviceOf(inputs.model, name), "build");
  const build = { secrets };
  const values = variableParts(build, inputs);
  if (Object.keys(values).length === 0) return {};
  // The name of a variable is in the definition alone, where the digest is of all of them.
  return { ...values, build_secrets: inputs.digest(withResources(build, inputs)) };
}

/** Images of a service that builds of others give, with digests of all that these are built from. */
function imageParts(
  name: string,
  images: readonly string[],
  inputs: DigestInputs & Shared,
): Record<string, string> {
  const parts: Record<string, string> = {};
  for (const image of images) {
    const builders = inputs.builders(name, image);
    const [first] = builders;
    if (first === undefined || first === name) continue;
    const known = inputs.images.get(image);
    // Hundreds may name an image that hundreds build.
    const digest = known ?? inputs.digest(canonicalJson(builders.map((each) => [
      ...[each, buildDigest(each, inputs)],
      textAt(serviceOf(inputs.model, each), "platform"),
    ])));
    inputs.images.set(image, digest);
    parts[`image:${first}:${image}`] = digest;
  }
  return parts;
}

function buildDigest(name: string, inputs: DigestInputs & Shared): string {
  const known = inputs.builds.get(name);
  if (known !== undefined) return known;
  // A circle, which no program builds, ends here.
  inputs.builds.set(name, "");
  const build = objectAt(serviceOf(inputs.model, name), "build");
  const parts = { definition: inputs.digest(canonicalJson(build)), ...buildParts(name, inputs) };
  const digest = inputs.digest(canonicalJson(parts));
  inputs.builds.set(name, digest);
  return digest;
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

/** The canonical JSON of a definition, with those of the resources that it names. */
function withResources(definition: JsonObject, { texts }: Shared): string {
  const named = (kind: ResourceKind) => {
    const keys = [...new Set(resourceUses(definition, kind))].sort();
    const members = keys.flatMap((key) => {
      const text = texts.get(kind)?.get(key);
      return text === undefined ? [] : [`${JSON.stringify(key)}:${text}`];
    });
    return `"${kind}":{${members.join(",")}}`;
  };
  const [configs, ...others] = RESOURCE_KINDS.map(named);
  const parts = [configs, `"definition":${canonicalJson(definition)}`, ...others];
  return `{${parts.join(",")}}`;
}

/** Digests of the variables that configs and secrets of the service take their values from. */
function variableParts(definition: JsonObject, inputs: DigestInputs & Shared) {
  const parts: Record<string, string> = {};
  for (const kind of ["configs", "secrets"] as const) {
    for (const name of resourceUses(definition, kind)) {
      const variable = textAt(objectAt(objectAt(inputs.model, kind), name), "environment");
      if (variable === "") continue;
      const digest = inputs.values.get(variable);
      if (digest === undefined) parts["variables"] = inputs.variables;
      else parts[`variable:${variable}`] = digest;
    }
  }
  return parts;
}
