import {
  isObject,
  type JsonObject,
  mapServices,
  objectAt,
  objectsAt,
  plainDollars,
  serviceOf,
  textAt,
} from "../compose/mod.ts";
import type { ContainerDetails, ContainerRecipe, Engine, ImageDefaults } from "../docker/mod.ts";
import type { ContainerMount } from "../docker/engine.ts";
import { asList, asRecord, asText, asTextList } from "../docker/json.ts";
import { type ComposeModel, type ObservedStack, own, type Release } from "../model/mod.ts";
import { fewAtOnce } from "./few_at_once.ts";
import { isSameMount, isUnnamed, modelMounts, othersByService, plainPath } from "./moved_mounts.ts";

/** A container with what its image gives it, where the image is still there. */
interface Running extends Pick<ContainerDetails, "mounts"> {
  readonly recipe: ContainerRecipe;
  readonly image: ImageDefaults | undefined;
}

/**
 * The model of a release as far as containers run it that Stackwright did not make, for people to compare
 * with the release: with their image, command, environment, mounts and ports, and all else as the release
 * has it. Values of variables and words of commands that the release does not have are passed through
 * `mask`: nobody knows which of them are secrets.
 */
export async function runningModel(
  engine: Pick<Engine, "containerRecipe" | "imageDefaults" | "inspectContainer">,
  { key, model }: Pick<Release, "key" | "model">,
  { containers }: ObservedStack,
  mask: (text: string) => string,
  signal: AbortSignal,
): Promise<ComposeModel> {
  const services = Object.keys(objectAt(model, "services"));
  const others = othersByService(containers);
  const found = new Map<string, Running>();
  await fewAtOnce(services, async (name) => {
    const container = others.get(name);
    if (container === undefined) return;
    const recipe = await engine.containerRecipe(container.id, signal);
    const { mounts = [] } = await engine.inspectContainer(container.id, signal) ?? {};
    if (recipe === undefined) return;
    const image = await engine.imageDefaults(recipe.imageId, signal);
    found.set(name, { recipe, mounts, image });
  });
  const isThere = ([name]: [string, unknown]) => found.has(name);
  const there = Object.fromEntries(Object.entries(objectAt(model, "services")).filter(isThere));
  return mapServices({ ...model, services: there }, (service, name) => {
    const running = found.get(name);
    if (running === undefined) return service;
    const { recipe: { body } } = running;
    const { image, command, environment, volumes: _volumes, ports: _ports, ...rest } = service;
    const isBuilt = image === undefined && body["Image"] === `${key.name}-${name}`;
    return {
      ...rest,
      ...(isBuilt ? {} : { image: asText(body["Image"]) }),
      ...filled("command", commandOf(command, running, mask)),
      ...filled("environment", environmentOf(environment, running, mask)),
      ...filled("volumes", volumesOf(model, name, running)),
      ...filled("ports", portsOf(service, running)),
    };
  });
}

/** A member with something in it, or none. */
function filled(name: string, value: unknown): JsonObject {
  return value === undefined || isObject(value) && Object.keys(value).length === 0 ||
      Array.isArray(value) && value.length === 0
    ? {}
    : { [name]: value };
}

function commandOf(
  wanted: unknown,
  { recipe: { body }, image }: Running,
  mask: (text: string) => string,
): unknown {
  const ran = asTextList(body["Cmd"]);
  const given = Array.isArray(wanted) ? wanted.map(String) : undefined;
  const byWord = new Map(given?.map((each) => [plainDollars(each), each]));
  const same = given?.map(plainDollars) ?? image?.command ?? ran;
  if (same.length === ran.length && ran.every((word, at) => word === same[at])) return wanted;
  return ran.map((word) => byWord.get(word) ?? mask(word));
}

function environmentOf(
  wanted: unknown,
  { recipe: { body }, image }: Running,
  mask: (text: string) => string,
): JsonObject {
  const given = isObject(wanted) ? wanted : {};
  const byImage = new Set(image?.environment);
  return Object.fromEntries(
    asTextList(body["Env"]).flatMap((line) => {
      const [name = "", ...rest] = line.split("=");
      const [value, now] = [rest.join("="), own(given, name)];
      if (now === undefined && (image === undefined || byImage.has(line))) return [];
      const isSame = typeof now !== "object" && plainDollars(String(now)) === value;
      return [[name, isSame ? now : mask(value)]];
    }),
  );
}

function volumesOf(model: ComposeModel, name: string, { mounts }: Running): unknown[] {
  const service = serviceOf(model, name);
  const wanted = modelMounts(model, name);
  const known = new Set([...wanted.keys(), ...filePlaces(service)]);
  const found = new Map(mounts.map((each) => [plainPath(each.destination), each]));
  const shown = ({ kind, name, source, destination, writable }: Running["mounts"][number]) => ({
    type: kind,
    source: kind === "volume" ? name : source,
    target: destination,
    ...(writable ? {} : { read_only: true }),
  });
  const there = [...wanted].flatMap(([target, to]) => {
    const mount = found.get(target);
    if (mount === undefined) return to.kind === "tmpfs" ? [to.entry] : [];
    return [mount.kind === "other" || isSameMount(mount, to) ? to.entry : shown(mount)];
  });
  if (service["volumes_from"] !== undefined) return there;
  const more = mounts.filter((each) =>
    each.kind !== "other" && !isUnnamed(each) && !known.has(plainPath(each.destination))
  );
  // The engine lists them in another order each time.
  return [...there, ...more.sort(byPlace).map(shown)];
}

function byPlace(a: ContainerMount, b: ContainerMount): number {
  return a.destination < b.destination ? -1 : 1;
}

/** Where compose mounts the configs and secrets of a service. */
function filePlaces(service: JsonObject): string[] {
  const place = (base: string) => (each: JsonObject) =>
    (textAt(each, "target") || textAt(each, "source")).replace(/^(?!\/)/, base);
  return [
    ...objectsAt(service, "configs").map(place("/")),
    ...objectsAt(service, "secrets").map(place("/run/secrets/")),
  ];
}

function portsOf(service: JsonObject, { recipe: { body } }: Running): unknown[] {
  // The engine chooses a published port of 0.
  const published = (port: unknown) =>
    port === undefined || String(port) === "0" ? "" : String(port);
  const keyOf = (port: JsonObject) =>
    [port["target"], port["protocol"], published(port["published"]), port["host_ip"] ?? ""].join(
      " ",
    );
  const wanted = new Map(objectsAt(service, "ports").map((each) => [keyOf(each), each]));
  const bound = Object.entries(asRecord(asRecord(body["HostConfig"])["PortBindings"]));
  return bound.flatMap(([key, places]) => {
    const [target, protocol = "tcp"] = key.split("/");
    return asList(places).map(asRecord).map(({ HostIp, HostPort }) => {
      const at = asText(HostIp);
      const place = { target: Number(target), protocol, published: published(asText(HostPort)) };
      // As compose prints them; containers have no other mode.
      const there = { mode: "ingress", ...(at === "" ? {} : { host_ip: at }), ...place };
      return wanted.get(keyOf(there)) ?? there;
    });
  });
}
