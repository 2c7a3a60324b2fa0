import { type EngineApi, pathName } from "./api.ts";
import type { ImageSummary } from "./engine_facts.ts";
import { asList, asRecord, asText, asTextList, asTexts, type Json } from "./json.ts";

const UNTAGGED = "<none>";

/** Content id of the image a reference names; `undefined` when it is not there. */
export async function imageId(
  api: EngineApi,
  reference: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const answer = await inspectImage(api, reference, {}, signal);
  return answer === undefined ? undefined : asText(asRecord(answer)["Id"]);
}

/** The answer of {@link imageContent} for the image a reference names; `undefined` when it is not there. */
export async function contentOf(
  api: EngineApi,
  reference: string,
  platform: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  // Engines before API 1.48 do not know that, and pass it over.
  const answer = await inspectImage(api, reference, { manifests: "1" }, signal);
  return answer === undefined ? undefined : imageContent(answer, platform);
}

/** Paths at which an image declares volumes; none when it is not there. */
export async function imageVolumes(
  api: EngineApi,
  reference: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const answer = await inspectImage(api, reference, {}, signal);
  return Object.keys(asRecord(asRecord(asRecord(answer)["Config"])["Volumes"]));
}

/**
 * Characters that a list of containers has for each one of an image, because its author said so;
 * `undefined` when it is not there.
 */
export async function imageListed(
  api: EngineApi,
  reference: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const answer = await inspectImage(api, reference, {}, signal);
  if (answer === undefined) return undefined;
  const config = asRecord(asRecord(answer)["Config"]);
  const length = (key: string) =>
    config[key] === undefined ? 0 : JSON.stringify(config[key]).length;
  const mounts = Object.keys(asRecord(config["Volumes"])).length;
  // A port is listed with more characters than an image has for it, and a volume as a mount.
  return length("Labels") + length("Cmd") + length("Entrypoint") + 4 * length("ExposedPorts") +
    length("Volumes") + mounts * LISTED_MOUNT;
}

/** Characters that a list has for a volume that the engine made up, besides its place. */
const LISTED_MOUNT = 400;

/** What the engine says of the image a reference names; `undefined` when it is not there. */
async function inspectImage(
  api: EngineApi,
  reference: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
) {
  const path = `/images/${pathName(reference)}/json`;
  return await api.json({ method: "GET", path, query, accept: [404] }, signal);
}

/** All images, without intermediate layers. */
export async function listImages(api: EngineApi, signal: AbortSignal): Promise<ImageSummary[]> {
  const list = await api.json({ method: "GET", path: "/images/json" }, signal);
  return asList(list).map(asRecord).map((image) => ({
    id: asText(image["Id"]),
    tags: named(asTextList(image["RepoTags"])),
    digests: named(asTextList(image["RepoDigests"])),
    labels: asTexts(image["Labels"]),
  }));
}

/**
 * Removes an image that nothing uses. It is never forced: a forced removal takes the image away from
 * under stopped containers, and takes tags away that somebody else gave.
 */
export async function removeImage(
  api: EngineApi,
  id: string,
  signal: AbortSignal,
): Promise<{ readonly removed: boolean }> {
  const status = await api.send({
    method: "DELETE",
    path: `/images/${pathName(id)}`,
    accept: [404, 409],
  }, signal);
  return { removed: status < 400 };
}

/** Gives an image one more name; a name that pointed elsewhere moves. */
export async function tagImage(
  api: EngineApi,
  id: string,
  reference: string,
  signal: AbortSignal,
): Promise<void> {
  // The colon of a registry port is no tag: only one after the last slash is.
  const colon = reference.indexOf(":", reference.lastIndexOf("/") + 1);
  const repo = colon === -1 ? reference : reference.slice(0, colon);
  const tag = colon === -1 ? "latest" : reference.slice(colon + 1);
  await api.send(
    { method: "POST", path: `/images/${pathName(id)}/tag`, query: { repo, tag } },
    signal,
  );
}

function named(names: readonly string[]): string[] {
  return names.filter((name) => !name.includes(UNTAGGED));
}

/**
 * The digest of what runs of an image, for a platform such as `linux/arm64/v8` or, where that is empty,
 * for that of the engine. An image of the containerd store may be a list of manifests whose own digest,
 * the id, changes with every build although nothing that runs does; docker compose 5.4 and newer writes
 * that of the manifest into its label. `answer` is what the engine says of the image with its manifests;
 * one of the classic store has none, and its id is told.
 */
export function imageContent(answer: Json | undefined, platform: string): string {
  const image = asRecord(answer);
  const wanted = platform === ""
    ? { os: asText(image["Os"]), architecture: asText(image["Architecture"]), variant: "" }
    : parsed(platform);
  const manifests = asList(image["Manifests"]).map(asRecord)
    .filter((each) => each["Kind"] === "image" && each["Available"] === true);
  const match = manifests.find((each) => {
    const has = asRecord(asRecord(each["ImageData"])["Platform"]);
    return asText(has["os"]) === wanted.os && asText(has["architecture"]) === wanted.architecture &&
      (wanted.variant === "" || asText(has["variant"]) === wanted.variant);
  });
  const chosen = match ?? (manifests.length === 1 ? manifests[0] : undefined);
  return asText((chosen ?? image)[chosen === undefined ? "Id" : "ID"]);
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x86_64: "amd64", aarch64: "arm64" };

function parsed(platform: string) {
  const [os = "", name = "", variant = ""] = platform.toLowerCase().split("/");
  const architecture = ARCHITECTURES[name] ?? name;
  // The usual variant is rarely written.
  const isUsual = architecture === "arm64" && variant === "v8";
  return { os, architecture, variant: isUsual ? "" : variant };
}
