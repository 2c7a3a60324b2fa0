import { asList, asRecord, asText, type Json } from "./json.ts";

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
