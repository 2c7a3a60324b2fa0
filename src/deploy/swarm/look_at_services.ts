import type { Engine } from "../../docker/engine.ts";
import { objectAt } from "../../compose/mod.ts";
import { type Drift, LABELS, own, type Release } from "../../model/mod.ts";
import { withPlainDollars } from "../engine/plain_dollars.ts";
import { serviceBody } from "./service_body.ts";
import { serviceDrift } from "./service_drift.ts";
import { objectBase } from "./stack_objects.ts";
import { STACK_LABELS, type StackParts } from "./stack_parts.ts";

/** A release of a stack with the image of each service, as far as images are known. */
type StackInUse = Pick<Release, "key" | "model" | "services"> & {
  readonly images: Readonly<Record<string, string>>;
};

/** Drift of a stack's services, see {@link serviceDrift}; none where another release made one. */
export async function lookAtServices(
  engine: Pick<Engine, "swarm" | "apiVersion">,
  { key, model: rendered, services, images }: StackInUse,
  signal: AbortSignal,
): Promise<Drift[]> {
  const { swarm } = engine;
  const all = await swarm.services({ [STACK_LABELS.namespace]: key.name }, signal);
  const byName = new Map(all.map((each) => [each.name, each]));
  const model = withPlainDollars(rendered);
  const object: StackParts["object"] = (kind, name) => {
    const definition = objectAt(objectAt(model, kind), name);
    const base = objectBase(definition, name, key.name);
    return { id: "", name: definition["external"] === true ? base : `${base}_${NO_DIGITS}` };
  };
  const api = await engine.apiVersion(signal);
  const parts = { stack: key.name, model, api, replicas: {}, images, content: {}, object };
  const networks = new Map((await swarm.networks(signal)).map(({ id, name }) => [id, name]));
  return services.flatMap(({ name, digest }) => {
    const found = byName.get(`${key.name}_${name}`);
    if (found?.labels[LABELS.digest] !== digest) return [];
    const drift = serviceDrift(name, serviceBody(name, parts), found.spec, networks);
    const knowsImage = own(images, name) !== undefined;
    return drift.filter(({ field }) => knowsImage || field !== "image");
  });
}

/** Placeholder for the digest of a content, which is unknown here, as it takes the files. */
const NO_DIGITS = "00000000";
