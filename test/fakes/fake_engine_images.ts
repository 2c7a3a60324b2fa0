import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  filtersOf,
  flag,
  matchesAny,
  matchesLabels,
  type Route,
  type RouteAnswer,
  type RouteRequest,
} from "./fake_engine_routes.ts";
import {
  type EngineState,
  type FakeImage,
  hexDigest,
  manifestDigest,
  Refusal,
  shortReference,
} from "./fake_engine_state.ts";
import { inspectedImage, listedImage } from "./fake_engine_views.ts";

/** Routes below /images and /distribution. */
export const imageRoutes: readonly Route[] = [
  { method: "GET", path: /^\/images\/json$/, handle: listImages },
  { method: "POST", path: /^\/images\/create$/, handle: pull },
  { method: "POST", path: /^\/build$/, handle: build },
  { method: "GET", path: /^\/images\/(.+)\/json$/, handle: inspectImage },
  { method: "POST", path: /^\/images\/(.+)\/tag$/, handle: tagImage },
  { method: "DELETE", path: /^\/images\/(.+)$/, handle: removeImage },
  { method: "GET", path: /^\/distribution\/(.+)\/json$/, handle: distribution },
];

function listImages(request: RouteRequest): RouteAnswer {
  const filters = filtersOf(request, ["label", "dangling", "reference"]);
  const matching = [...request.state.images.values()].filter((image) =>
    matchesLabels(image.labels, filters) &&
    matchesAny(filters, "dangling", (value) => (image.tags.size === 0) === (value !== "false")) &&
    matchesAny(filters, "reference", (value) => image.tags.has(shortReference(value)))
  );
  return { status: 200, json: matching.map(listedImage) };
}

function inspectImage({ state, params }: RouteRequest): RouteAnswer {
  return { status: 200, json: inspectedImage(state.image(params[0] ?? "")) };
}

function pull({ state, query }: RouteRequest): RouteAnswer {
  const name = query.get("fromImage") ?? "";
  const tag = query.get("tag") ?? "";
  const reference = tag === ""
    ? name
    : tag.startsWith("sha256:")
    ? `${name}@${tag}`
    : `${name}:${tag}`;
  const offered = registryImage(state, reference);
  if (state.echoesCredentials) return { stream: refuseWithCredentials };
  if (offered === undefined) {
    throw new Refusal(
      404,
      `pull access denied for ${shortReference(name).replace(/:latest$/, "")}, ` +
        "repository does not exist or may require 'docker login'",
    );
  }
  const isNew = state.findImage(reference)?.id !== offered.id;
  const short = shortReference(reference);
  if (isNew) take(state, offered, short);
  const lines = [
    { status: `Pulling from ${short.replace(/[:@].*$/, "")}`, id: tag },
    { status: `Digest: ${manifestDigest(offered)}` },
    {
      status: isNew
        ? `Status: Downloaded newer image for ${short}`
        : `Status: Image is up to date for ${short}`,
    },
  ];
  return {
    stream(response) {
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end(lines.map((line) => JSON.stringify(line) + "\r\n").join(""));
    },
  };
}

function refuseWithCredentials(response: ServerResponse, request: IncomingMessage): void {
  const given = String(request.headers["x-registry-auth"] ?? "");
  const plain = Buffer.from(given, "base64url").toString();
  response.writeHead(500, { "Content-Type": "application/json" });
  response.end(JSON.stringify({ message: `denied: ${given} is ${plain}` }));
}

/** An image; another content under the same name is another one. */
export function imageOf(
  tag: string,
  content = "",
  labels: Readonly<Record<string, string>> = {},
): FakeImage {
  const id = `sha256:${hexDigest(`${tag} ${content}`)}`;
  return { id, tags: new Set(), labels, created: new Date() };
}

/** Of a build, only what comes out: `remote` stands for all that went in. */
function build({ state, query }: RouteRequest): RouteAnswer {
  const [tag = "", ...others] = query.getAll("t").map(shortReference);
  const labels = JSON.parse(query.get("labels") ?? "{}") as Record<string, string>;
  const image = { ...imageOf(tag, query.get("remote") ?? "", labels), isLocal: true };
  for (const each of [tag, ...others]) take(state, image, each);
  return { status: 200, json: { stream: `Successfully tagged ${tag}` } };
}

/** Puts an image under a tag; an earlier image of that tag loses it and stays. */
export function take(state: EngineState, image: FakeImage, tag: string): void {
  for (const other of state.images.values()) other.tags.delete(tag);
  const own = state.images.get(image.id) ?? { ...image, tags: new Set<string>() };
  if (!tag.includes("@")) own.tags.add(tag);
  state.images.set(own.id, own);
  state.emit("image", "pull", { id: tag, attributes: { name: tag } });
}

function tagImage({ state, params, query }: RouteRequest): RouteAnswer {
  const image = state.image(params[0] ?? "");
  const [name, tag] = [query.get("repo") ?? "", query.get("tag") ?? "latest"];
  take(state, image, shortReference(`${name}:${tag}`));
  return { status: 201 };
}

function removeImage({ state, params, query }: RouteRequest): RouteAnswer {
  const key = params[0] ?? "";
  const image = state.image(key);
  const tag = shortReference(key);
  const byTag = image.tags.has(tag);
  const user = [...state.containers.values()].find((each) => each.imageId === image.id);
  if (byTag && image.tags.size > 1) {
    image.tags.delete(tag);
    return { status: 200, json: [{ Untagged: tag }] };
  }
  if (!flag(query, "force")) {
    if (user !== undefined) throw inUse(key, user.id);
    if (image.tags.size > 1) {
      throw new Refusal(
        409,
        `conflict: unable to delete ${key} (must be forced) - ` +
          "image is referenced in multiple repositories",
      );
    }
  }
  state.images.delete(image.id);
  const untagged = [...image.tags].map((each) => ({ Untagged: each }));
  return { status: 200, json: [...untagged, { Deleted: image.id }] };
}

function inUse(key: string, containerId: string): Refusal {
  return new Refusal(
    409,
    `conflict: unable to remove repository reference "${key}" (must force) - ` +
      `container ${containerId.slice(0, 12)} is using its referenced image`,
  );
}

function distribution({ state, params }: RouteRequest): RouteAnswer {
  const image = registryImage(state, params[0] ?? "");
  if (image === undefined) throw new Refusal(404, `manifest unknown: ${params[0]}`);
  return {
    status: 200,
    json: {
      Descriptor: {
        mediaType: "application/vnd.oci.image.manifest.v1+json",
        digest: manifestDigest(image),
        size: 1,
      },
      Platforms: [{ architecture: "amd64", os: "linux" }],
    },
  };
}

function registryImage(state: EngineState, reference: string): FakeImage | undefined {
  const digest = reference.split("@")[1];
  if (digest === undefined) return state.registry.get(shortReference(reference));
  return [...state.registry.values()].find((image) => manifestDigest(image) === digest);
}
