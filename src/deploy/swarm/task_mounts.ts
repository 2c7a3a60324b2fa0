import type { TaskMountBody } from "../../docker/swarm_bodies.ts";
import { COMPOSE_LABELS, filled, own } from "../../model/mod.ts";
import { type JsonObject, labelsOf, objectAt, objectsAt, textAt } from "../../compose/mod.ts";
import { wantedVolumes } from "../engine/resource_bodies.ts";
import { amountOf, numberOf } from "../engine/units.ts";
import { STACK_LABELS, type StackParts } from "./stack_parts.ts";
import { wordsAt } from "../engine/host_body.ts";

/** The mounts of a task; its volumes are made with the task, on its node. */
export function taskMounts(
  service: JsonObject,
  parts: Pick<StackParts, "model" | "stack">,
): TaskMountBody[] {
  const shared = amountOf(service["shm_size"]);
  return [
    ...objectsAt(service, "volumes").map((volume) => mountOf(volume, parts)),
    ...wordsAt(service, "tmpfs").map(temporary),
    ...(shared === undefined
      ? []
      : [{ Type: "tmpfs", Target: "/dev/shm", TmpfsOptions: { SizeBytes: shared } } as const]),
  ];
}

function mountOf(volume: JsonObject, parts: Pick<StackParts, "model" | "stack">): TaskMountBody {
  const type = textAt(volume, "type") as TaskMountBody["Type"];
  const source = textAt(volume, "source");
  const common = {
    Type: type,
    Target: textAt(volume, "target"),
    ...filled({
      Source: source,
      ReadOnly: volume["read_only"] === true || undefined,
      Consistency: textAt(volume, "consistency"),
    }),
  };
  if (type === "bind") return { ...common, ...filled({ BindOptions: bindOptions(volume) }) };
  if (type === "tmpfs") return { ...common, ...temporaryOptions(objectAt(volume, "tmpfs")) };
  if (type !== "volume") return common;
  return { ...common, ...namedVolume(volume, source, parts) };
}

function bindOptions(volume: JsonObject) {
  const bind = objectAt(volume, "bind");
  return filled({
    Propagation: textAt(bind, "propagation"),
    NonRecursive: textAt(bind, "recursive") === "disabled" || undefined,
  });
}

function temporaryOptions({ size, mode }: JsonObject): Pick<TaskMountBody, "TmpfsOptions"> {
  return filled({ TmpfsOptions: filled({ SizeBytes: amountOf(size), Mode: amountOf(mode) }) });
}

/** The short form, `/run:size=64m,mode=1777`; a swarm accepts no other options. */
function temporary(text: string): TaskMountBody {
  const [target = "", options = ""] = text.split(":");
  const value = (name: string) => new RegExp(`(?:^|,)${name}=([^,]+)`).exec(options)?.[1];
  const size = value("size");
  const mode = value("mode");
  const given = {
    size: size === undefined ? undefined : bytesOf(size),
    mode: mode === undefined ? undefined : Number.parseInt(mode, 8),
  };
  return { Type: "tmpfs", Target: target, ...temporaryOptions(given) };
}

function bytesOf(text: string): number {
  const [, number = "0", unit = ""] = /^(\d+)([kmg]?)/i.exec(text) ?? [];
  const power = { "": 0, k: 1, m: 2, g: 3 }[unit.toLowerCase()] ?? 0;
  return (numberOf(number) ?? 0) * 1024 ** power;
}

function namedVolume(
  volume: JsonObject,
  source: string,
  { model, stack }: Pick<StackParts, "model" | "stack">,
): Pick<TaskMountBody, "Source" | "VolumeOptions"> {
  const options = objectAt(volume, "volume");
  const asked = filled({
    NoCopy: options["nocopy"] === true || undefined,
    Subpath: textAt(options, "subpath"),
  });
  // Only the mounted volume: a stack may have thousands of mounts, and as many volumes.
  const declared = own(objectAt(model, "volumes"), source);
  const named = declared === undefined ? {} : { [source]: declared };
  const [definition] = source === "" ? [] : wantedVolumes({ name: model["name"], volumes: named });
  if (definition === undefined || definition.external) {
    const VolumeOptions = { ...asked, ...filled({ Labels: labelsOf(options) }) };
    return filled({ Source: definition?.name, VolumeOptions });
  }
  const { Driver, DriverOpts, Labels } = definition.body;
  return {
    Source: definition.name,
    VolumeOptions: {
      ...asked,
      Labels: { ...withoutCompose(Labels), ...labelsOf(options), [STACK_LABELS.namespace]: stack },
      ...filled({ DriverConfig: filled({ Name: Driver, Options: DriverOpts }) }),
    },
  };
}

/** Labels without those by which compose recognizes its own containers. */
export function withoutCompose(labels: Readonly<Record<string, string>>): Record<string, string> {
  const theirs = new Set<string>(Object.values(COMPOSE_LABELS));
  return Object.fromEntries(Object.entries(labels).filter(([name]) => !theirs.has(name)));
}
