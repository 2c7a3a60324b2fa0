import { COMPOSE_LABELS } from "../model/mod.ts";
import { type EngineApi, pathName } from "./api.ts";
import type { Query } from "./api_request.ts";
import type { ImageSummary } from "./engine_facts.ts";
import {
  asList,
  asRecord,
  asText,
  asTextList,
  asTexts,
  type Json,
  type JsonRecord,
} from "./json.ts";
import type { Engine } from "./engine.ts";

const UNTAGGED = "<none>";
/** Bytes of the list of all images. */
const MOST_OF_IMAGES = 256 << 20;

/** The calls of an engine about images. */
export function imageCalls(api: EngineApi) {
  return {
    imageId: (reference, signal) => imageId(api, reference, signal),
    imageContent: async (reference, platform, signal) => {
      // Engines before API 1.48 do not know that, and pass it over.
      const answer = await inspectImage(api, reference, { manifests: "1" }, signal);
      return answer && imageContent(answer, platform);
    },
    imageVolumes: async (reference, signal) => {
      const answer = await inspectImage(api, reference, {}, signal);
      return Object.keys(asRecord(asRecord(answer?.["Config"])["Volumes"]));
    },
    imageLabels: async (reference, signal) => {
      const answer = await inspectImage(api, reference, {}, signal);
      return answer && asTexts(asRecord(answer["Config"])["Labels"]);
    },
    imageListed: async (reference, signal) => {
      const answer = await inspectImage(api, reference, {}, signal);
      return answer && listedLength(asRecord(answer["Config"]));
    },
    listImages: async (signal) => {
      // Their authors wrote the labels, of which one is held: their sum may be great.
      const keep = ["Id", "RepoTags", "RepoDigests", "Labels"];
      const shape = { keep, mostKept: MOST_OF_IMAGES, of: imageSummary };
      return await api.list({ method: "GET", path: "/images/json" }, shape, signal);
    },
    // Never forced: that takes the image away from under stopped containers, and takes tags away that
    // somebody else gave.
    removeImage: async (id, signal) => {
      const path = `/images/${pathName(id)}`;
      const status = await api.send({ method: "DELETE", path, accept: [404, 409] }, signal);
      return { removed: status < 400 };
    },
    tagImage: async (id, reference, signal) => {
      const path = `/images/${pathName(id)}/tag`;
      await api.send({ method: "POST", path, query: repositoryAndTag(reference) }, signal);
    },
  } satisfies Partial<Engine>;
}

/** Content id of the image a reference names; `undefined` when it is not there. */
export async function imageId(
  api: EngineApi,
  reference: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const answer = await inspectImage(api, reference, {}, signal);
  return answer && asText(answer["Id"]);
}

/** Characters that a list of containers has for each one of an image with this configuration. */
function listedLength(config: JsonRecord): number {
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
function inspectImage(api: EngineApi, reference: string, query: Query, signal: AbortSignal) {
  return api.find(`/images/${pathName(reference)}/json`, signal, query);
}

function imageSummary(image: JsonRecord): ImageSummary {
  const project = asTexts(image["Labels"])[COMPOSE_LABELS.project];
  return {
    id: asText(image["Id"]),
    tags: named(asTextList(image["RepoTags"])),
    digests: named(asTextList(image["RepoDigests"])),
    labels: project === undefined ? {} : { [COMPOSE_LABELS.project]: project },
  };
}

function repositoryAndTag(reference: string) {
  // The colon of a registry port is no tag: only one after the last slash is.
  const colon = reference.indexOf(":", reference.lastIndexOf("/") + 1);
  if (colon === -1) return { repo: reference, tag: "latest" };
  return { repo: reference.slice(0, colon), tag: reference.slice(colon + 1) };
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
