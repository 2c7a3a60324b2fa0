import type { NetworkBody } from "../../docker/create_bodies.ts";
import {
  askingSource,
  type ComposeModel,
  errors,
  type Release,
  type ReleaseService,
} from "../../model/mod.ts";
import { canonicalJson } from "../../compose/mod.ts";
import type { WantedResource } from "../engine/resource_bodies.ts";
import { withPlainDollars } from "../engine/plain_dollars.ts";
import type { ReleaseOnDisk } from "../rollout_words.ts";
import { readContents } from "./read_contents.ts";
import { serviceBody } from "./service_body.ts";
import { type WantedObject, wantedObjects, wantedStackNetworks } from "./stack_objects.ts";
import type { StackParts } from "./stack_parts.ts";
import type { SwarmParts } from "./stack_words.ts";
import { notForSwarm } from "./swarm_keys.ts";

/** A release for a swarm, without its services, which need the ids of its objects. */
export interface WantedStack {
  readonly name: string;
  /** With plain dollars. */
  readonly model: ComposeModel;
  readonly networks: readonly WantedResource<NetworkBody>[];
  readonly objects: readonly WantedObject[];
  /** Parts of the services, except for images and ids of objects. */
  readonly parts: Omit<StackParts, "images" | "object">;
}

/**
 * A release converted for a swarm. Changes nothing.
 *
 * Throws `unsupported` naming everything that a swarm cannot do, and `config_invalid` if the
 * content of a config or secret cannot be read.
 */
export async function stackOf(
  { contents, digest, stackDirectory }: Pick<SwarmParts, "contents" | "digest" | "stackDirectory">,
  { release, tree }: ReleaseOnDisk,
  api: string,
): Promise<WantedStack> {
  const { key: { name }, invocation } = release;
  const model = withPlainDollars(release.model);
  requireConvertible(name, model);
  const contentOf = await readContents(model, {
    files: contents,
    tree,
    stackDirectory: stackDirectory(release),
    variables: { ...invocation.values, ...invocation.environment },
  });
  const sources = {
    repository: release.revision.source.name,
    configuration: askingSource(release),
  };
  return {
    name,
    model,
    networks: wantedStackNetworks(model, api, name),
    objects: wantedObjects(model, { stack: name, contentOf, digest, sources }),
    parts: {
      stack: name,
      model,
      api,
      replicas: byService(release, ({ expectation }) => expectation.replicas),
      content: byService(release, (service) => contentDigest(service, digest)),
    },
  };
}

/** Converts a release and its services as a trial before any change. Throws as {@link stackOf}. */
export async function requireStack(
  parts: Pick<SwarmParts, "contents" | "digest" | "stackDirectory">,
  onDisk: ReleaseOnDisk,
): Promise<void> {
  const stack = await stackOf(parts, onDisk, "1.45");
  const object = () => ({ id: "", name: "" });
  for (const { name } of onDisk.release.services) {
    serviceBody(name, { ...stack.parts, images: {}, object });
  }
}

function requireConvertible(name: string, model: ComposeModel): void {
  const unknown = notForSwarm(model);
  if (unknown.length === 0) return;
  throw errors.unsupported(
    `stack ${name}: a swarm cannot do ${unknown.join(", ")}; remove it, or deploy with ` +
      "swarm.enabled: false. Nothing was changed",
  );
}

/** Digest of the mounted files of a service, which appear nowhere else in its tasks. */
function contentDigest({ inputs }: ReleaseService, digest: SwarmParts["digest"]) {
  const files = Object.entries(inputs).filter(([name]) => name.startsWith("file:"));
  return files.length === 0 ? undefined : digest(canonicalJson(Object.fromEntries(files)));
}

function byService<Value>(
  { services }: Release,
  value: (service: ReleaseService) => Value | undefined,
): Record<string, Value> {
  const entries = services.flatMap((service) => {
    const found = value(service);
    return found === undefined ? [] : [[service.name, found] as const];
  });
  return Object.fromEntries(entries);
}
