import type { HostBody, MountBody } from "../../docker/create_bodies.ts";
import { filled } from "../../model/mod.ts";
import {
  isObject,
  type JsonObject,
  labelsOf,
  objectAt,
  objectsAt,
  textAt,
} from "../../compose/model.ts";
import type { ContainerParts } from "./container_parts.ts";
import { fileUses, isValue } from "./injected_files.ts";
import { numberOf } from "./units.ts";
import { MADE_UP } from "../../compose/host_paths.ts";
import { resourceName } from "../../compose/resources.ts";

/** Mounts of a container: files of its host, volumes, configs and secrets. */
export function mountBodies(
  service: JsonObject,
  parts: ContainerParts,
): Pick<HostBody, "Binds" | "Mounts"> {
  const volumes = new Map(
    objectsAt(service, "volumes").map((each) => [textAt(each, "target"), each]),
  );
  const mounts = new Map<string, MountBody>();
  for (const mount of inheritedMounts(volumes, parts)) {
    mounts.set(mount.Target, mount);
    volumes.delete(mount.Target);
  }
  const binds: string[] = [];
  for (const [target, volume] of volumes) {
    const line = asLine(volume, parts);
    if (line === undefined) mounts.set(target, asMount(volume, parts));
    else binds.push(line);
  }
  for (const [target, source] of fileMounts(service, parts)) {
    // A volume at the same path was declared on purpose, so it wins.
    if (mounts.has(target) || volumes.has(target)) continue;
    mounts.set(target, { Type: "bind", Source: source, Target: target, ReadOnly: true });
  }
  return filled({ Binds: binds, Mounts: [...mounts.values()] });
}

/** Anonymous volumes of the replaced container where the service or its image still wants one. */
function inheritedMounts(
  volumes: ReadonlyMap<string, JsonObject>,
  { inherited, imageVolumes }: ContainerParts,
): MountBody[] {
  return inherited.filter(({ kind, name, destination }) => {
    if (kind !== "volume" || !MADE_UP.test(name)) return false;
    const wanted = volumes.get(destination);
    if (wanted === undefined) return imageVolumes.has(destination);
    return textAt(wanted, "type") === "volume" && textAt(wanted, "source") === "";
  }).map(({ name, destination, writable }) => ({
    Type: "volume",
    Source: name,
    Target: destination,
    ReadOnly: !writable,
  }));
}

/** A mount in the engine's short notation, if that can express it. */
function asLine(volume: JsonObject, { model }: ContainerParts): string | undefined {
  const target = textAt(volume, "target");
  const source = textAt(volume, "source");
  const mode = volume["read_only"] === true ? "ro" : "rw";
  if (textAt(volume, "type") === "bind") {
    const bind = objectAt(volume, "bind");
    const long = textAt(bind, "propagation") !== "" || textAt(bind, "recursive") !== "";
    if (long || !createsPath(volume)) return undefined;
    return `${source}:${target}:${[mode, textAt(bind, "selinux")].filter(Boolean).join(",")}`;
  }
  const name = volumeName(model, source);
  if (textAt(volume, "type") !== "volume" || name === undefined) return undefined;
  const { nocopy, subpath } = objectAt(volume, "volume");
  const labels = labelsOf(objectAt(volume, "volume"));
  if (nocopy === true || subpath !== undefined || Object.keys(labels).length > 0) return undefined;
  return `${name}:${target}:${mode}`;
}

/** Whether the engine creates the host path; so it does without options. Recorded models say it. */
function createsPath(volume: JsonObject): boolean {
  const bind = volume["bind"];
  return !isObject(bind) || bind["create_host_path"] === true;
}

function volumeName(model: JsonObject, source: string): string | undefined {
  if (source === "") return undefined;
  return resourceName(model, "volumes", source);
}

function asMount(volume: JsonObject, { model }: ContainerParts): MountBody {
  const Target = textAt(volume, "target");
  const ReadOnly = volume["read_only"] === true;
  const source = textAt(volume, "source");
  switch (textAt(volume, "type")) {
    case "bind":
      return { Type: "bind", Source: source, Target, ReadOnly, ...bindOptions(volume) };
    case "tmpfs": {
      const { size, mode } = objectAt(volume, "tmpfs");
      const TmpfsOptions = { SizeBytes: numberOf(size) ?? 0, Mode: numberOf(mode) ?? 0 };
      const asked = isObject(volume["tmpfs"]);
      return { Type: "tmpfs", Target, ReadOnly, ...(asked ? { TmpfsOptions } : {}) };
    }
    default: {
      const name = volumeName(model, source);
      const from = name === undefined ? {} : { Source: name };
      return { Type: "volume", ...from, Target, ReadOnly, ...volumeOptions(volume) };
    }
  }
}

function bindOptions(volume: JsonObject): Pick<MountBody, "BindOptions"> {
  const bind = objectAt(volume, "bind");
  const recursive = textAt(bind, "recursive");
  return {
    BindOptions: {
      Propagation: textAt(bind, "propagation"),
      CreateMountpoint: createsPath(volume),
      ...(recursive === "disabled" ? { NonRecursive: true } : {}),
      ...(recursive === "writable" ? { ReadOnlyNonRecursive: true } : {}),
      ...(recursive === "readonly" ? { ReadOnlyForceRecursive: true } : {}),
    },
  };
}

function volumeOptions(volume: JsonObject): Pick<MountBody, "VolumeOptions"> {
  const options = volume["volume"];
  if (!isObject(options)) return {};
  const told = filled({ Subpath: textAt(options, "subpath"), Labels: labelsOf(options) });
  return { VolumeOptions: { NoCopy: options["nocopy"] === true, ...told } };
}

/** The files of configs and secrets by their path in the container; values are added later. */
function fileMounts(service: JsonObject, { model }: ContainerParts): [string, string][] {
  return fileUses(model, service).filter(({ resource }) => !isValue(resource))
    .map(({ path, resource }) => [path, textAt(resource, "file")]);
}
