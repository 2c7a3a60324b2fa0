import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { ObjectKind } from "../../docker/swarm.ts";
import type { NetworkBody } from "../../docker/create_bodies.ts";
import type { ObjectBody } from "../../docker/swarm_bodies.ts";
import {
  type ComposeModel,
  errors,
  LABELS,
  MANAGER,
  type StackwrightError,
} from "../../model/mod.ts";
import { type JsonObject, labelsOf, textAt } from "../../compose/mod.ts";
import { wantedNetworks, type WantedResource } from "../engine/resource_bodies.ts";
import { STACK_LABELS } from "./stack_parts.ts";
import { withoutCompose } from "./task_mounts.ts";
import { resourcesOf } from "../../compose/resources.ts";

/** A config or secret of a stack. */
export interface WantedObject {
  readonly kind: ObjectKind;
  /** Its key in the model. */
  readonly key: string;
  /** Its name on the engine, which ends with the digest of its content unless it is external. */
  readonly name: string;
  /** Absent for an external object. */
  readonly body?: ObjectBody;
}

/** Parts of a stack's objects, besides its model. */
export interface ObjectParts {
  readonly stack: string;
  /** The bytes of a config or secret; never called for external ones. */
  contentOf(kind: ObjectKind, key: string): Uint8Array;
  /** Keyed digest of a text in hex digits: a secret's name must not help to guess its value. */
  digest(text: string): string;
  /** The repository that the stack is deployed from, and the one with its configuration. */
  readonly sources: Readonly<Record<"repository" | "configuration", string>>;
}

/** A name may have 64 characters, nine of which are for the digest. */
const LONGEST_BASE = 55;
/** Most bytes of a config or secret in a swarm. */
export const LONGEST_CONTENT: Readonly<Record<ObjectKind, number>> = {
  configs: 1_024_000,
  secrets: 512_000,
};

/**
 * The configs and secrets of a model with plain dollars; changed content makes a new one.
 *
 * Throws `unsupported` for a name that is too long, and for content that a swarm refuses.
 */
export function wantedObjects(model: ComposeModel, parts: ObjectParts): WantedObject[] {
  return (["configs", "secrets"] as const).flatMap((kind) =>
    resourcesOf(model, kind).map(({ key, external, definition }) => {
      const base = objectBase(definition, key, parts.stack);
      if (external) return { kind, key, name: base };
      const bytes = parts.contentOf(kind, key);
      const text = Buffer.from(bytes).toString("base64");
      requireFits(kind, key, base, bytes);
      const digest = kind === "configs"
        ? createHash("sha256").update(bytes).digest("hex")
        : parts.digest(text);
      const name = `${base}_${digest.slice(0, 8)}`;
      const labels = {
        ...authors(definition),
        [LABELS.manager]: MANAGER,
        [LABELS.deployment]: parts.stack,
        [LABELS.name]: base,
        [LABELS.sourceName]: parts.sources.repository,
        [LABELS.sourceConfiguration]: parts.sources.configuration,
        [STACK_LABELS.namespace]: parts.stack,
      };
      return { kind, key, name, body: { Name: name, Labels: labels, Data: text } };
    })
  );
}

/** The labels of an author that say nothing of whose an object is. */
function authors(definition: JsonObject): Record<string, string> {
  const ours = new Set<string>(Object.values(LABELS));
  const labels = withoutCompose(labelsOf(definition));
  return Object.fromEntries(Object.entries(labels).filter(([name]) => !ours.has(name)));
}

/** Name of a config or secret without its content's digest, which an external one lacks. */
export function objectBase(definition: JsonObject, key: string, stack: string): string {
  const other = definition["external"] === true ? key : `${stack}_${key}`;
  return textAt(definition, "name") || other;
}

/** The error for content that is too large for a swarm; `name` is its path in the model. */
export function tooLong(name: string, bytes: number, most: number): StackwrightError {
  return refusedObject(name, `it has ${bytes} bytes; a swarm takes at most ${most}`);
}

function refusedObject(name: string, why: string): StackwrightError {
  return errors.unsupported(`${name}: ${why}. Nothing was changed`);
}

function requireFits(kind: ObjectKind, key: string, base: string, bytes: Uint8Array): void {
  const refuse = (why: string) => refusedObject(`${kind}.${key}`, why);
  if (base.length > LONGEST_BASE) {
    throw refuse(
      `its name ${base} has ${base.length} characters; a swarm takes 64, of which nine are the ` +
        `digest of its content: give it a name of at most ${LONGEST_BASE}`,
    );
  }
  if (bytes.length === 0) throw refuse("it is empty, which a swarm does not take");
  const most = LONGEST_CONTENT[kind];
  if (bytes.length > most) throw tooLong(`${kind}.${key}`, bytes.length, most);
}

/** The networks of a model as requested from a swarm; `overlay` by default, to span all nodes. */
export function wantedStackNetworks(
  model: ComposeModel,
  api: string,
  stack: string,
): WantedResource<NetworkBody>[] {
  return wantedNetworks(model, api).map((wanted) => ({
    ...wanted,
    body: {
      ...wanted.body,
      Driver: wanted.body.Driver ?? "overlay",
      Labels: { ...withoutCompose(wanted.body.Labels), [STACK_LABELS.namespace]: stack },
    },
  }));
}
