import { COMPOSE_LABELS } from "../model/mod.ts";
import { type EngineApi, pathName } from "./api.ts";
import { isListOfRemoved } from "./api_refusal.ts";
import type { Query } from "./api_request.ts";
import type { ImageListed, ImageSummary } from "./engine_facts.ts";
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
import { sharingLists } from "./filters.ts";
import { members, short } from "./kept_parts.ts";
import { asName } from "./told.ts";

const UNTAGGED = "<none>";

/** Most calls for one list of images that others remove from. */
const MOST_LISTINGS = 3;

/** The calls of an engine about images. */
export function imageCalls(api: EngineApi) {
  const images = sharingLists((_, signal) => {
    // Each for itself: an image's author chooses its labels.
    const whose = (image: JsonRecord) => asText(image["Id"]);
    const shape = { keep: IMAGES, of: imageSummary, whose };
    return listed(() => api.list({ method: "GET", path: "/images/json" }, shape, signal));
  });
  return {
    imageId: (reference, signal) => imageId(api, reference, signal),
    imageContent: async (reference, platform, signal) => {
      // Engines before API 1.48 ignore this parameter.
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
      return answer && { id: asName(answer["Id"]), ...listedLengths(asRecord(answer["Config"])) };
    },
    imageDefaults: async (reference, signal) => {
      const answer = await inspectImage(api, reference, {}, signal);
      const { Cmd, Env, Healthcheck } = asRecord(answer?.["Config"]);
      const [test = "NONE"] = asTextList(asRecord(Healthcheck)["Test"]);
      const checksHealth = test !== "NONE";
      return answer && { command: asTextList(Cmd), environment: asTextList(Env), checksHealth };
    },
    listImages: (signal) => images({}, signal),
    // Not forced: that would remove images of stopped containers, and tags that somebody else gave.
    removeImage: async (id, signal) => {
      const path = `/images/${pathName(id)}`;
      await api.send({ method: "DELETE", path, accept: [404, 409] }, signal);
    },
    tagImage: async (id, reference, signal) => {
      const path = `/images/${pathName(id)}/tag`;
      await api.send({ method: "POST", path, query: repositoryAndTag(reference) }, signal);
    },
  } satisfies Partial<Engine>;
}

/** A list of images, made again where images were removed meanwhile. */
async function listed<T>(list: () => Promise<T>): Promise<T> {
  for (let calls = 1;; calls++) {
    try {
      return await list();
    } catch (error) {
      if (!isListOfRemoved(error) || calls === MOST_LISTINGS) throw error;
    }
  }
}

/** Content id of the image that a reference names; `undefined` when it is missing. */
export async function imageId(
  api: EngineApi,
  reference: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const answer = await inspectImage(api, reference, {}, signal);
  return answer && asName(answer["Id"]);
}

/** Characters that each container of an image with this configuration takes. */
function listedLengths(config: JsonRecord): Omit<ImageListed, "id"> {
  const length = (key: string) =>
    config[key] === undefined ? 0 : JSON.stringify(config[key]).length;
  const mounts = Object.keys(asRecord(config["Volumes"])).length;
  // A list has more characters for a port than the image, and shows volumes as mounts.
  const rest = length("Cmd") + length("Entrypoint") + 4 * length("ExposedPorts") +
    length("Volumes") + mounts * LISTED_MOUNT;
  return { labels: length("Labels"), all: length("Labels") + rest };
}

/** Characters in a list for an anonymous volume, besides its path. */
const LISTED_MOUNT = 400;

/** The engine's details of the image that a reference names; `undefined` when it is missing. */
function inspectImage(api: EngineApi, reference: string, query: Query, signal: AbortSignal) {
  return api.find(`/images/${pathName(reference)}/json`, signal, query);
}

const IMAGES = members({
  ...short("Id", "RepoTags", "RepoDigests"),
  Labels: members(short(COMPOSE_LABELS.project)),
});

function imageSummary(image: JsonRecord): ImageSummary {
  const project = asTexts(image["Labels"])[COMPOSE_LABELS.project];
  return {
    id: asName(image["Id"]),
    tags: named(asTextList(image["RepoTags"])),
    digests: named(asTextList(image["RepoDigests"])),
    labels: project === undefined ? {} : { [COMPOSE_LABELS.project]: project },
  };
}

function repositoryAndTag(reference: string) {
  // A tag's colon comes after the last slash; an earlier one belongs to a registry's port.
  const colon = reference.indexOf(":", reference.lastIndexOf("/") + 1);
  if (colon === -1) return { repo: reference, tag: "latest" };
  return { repo: reference.slice(0, colon), tag: reference.slice(colon + 1) };
}

function named(names: readonly string[]): string[] {
  return names.map((name) => asName(name)).filter((name) => !name.includes(UNTAGGED));
}

/**
 * The digest of an image for a platform such as `linux/arm64/v8`, or for the engine's if that is
 * empty. In containerd's store an image may be an index of manifests whose digest, the id, changes
 * with every build even if its content does not; docker compose 5.4 and newer labels containers
 * with the manifest's digest. `answer` is the engine's details with manifests; an image of the
 * classic store has none, and the result is its id.
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
  return asName((chosen ?? image)[chosen === undefined ? "Id" : "ID"]);
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x86_64: "amd64", aarch64: "arm64" };

function parsed(platform: string) {
  const [os = "", name = "", variant = ""] = platform.toLowerCase().split("/");
  const architecture = ARCHITECTURES[name] ?? name;
  // The usual variant is often omitted.
  const isUsual = architecture === "arm64" && variant === "v8";
  return { os, architecture, variant: isUsual ? "" : variant };
}
