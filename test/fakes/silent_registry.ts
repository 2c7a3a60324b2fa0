import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Buffer } from "node:buffer";
import process from "node:process";
import { gzipSync } from "node:zlib";
import { freePort } from "./free_port.ts";

/** A registry on the loopback interface whose images begin to come, or do. */
export interface SilentRegistry {
  /** `127.0.0.1:port`, as it stands in front of an image's name. */
  readonly host: string;
  /** How many layers of images named `silent…` were asked for: of each comes the beginning, and no more. */
  readonly silent: () => number;
  close(): Promise<void>;
}

const MANIFEST = "application/vnd.docker.distribution.manifest.v2+json";
const CONFIG = "application/vnd.docker.container.image.v1+json";
const LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip";

const digestOf = (content: Buffer) =>
  `sha256:${createHash("sha256").update(content).digest("hex")}`;

/** What an image is made of, by digests; its manifest is `latest` as well. */
type Image = ReadonlyMap<string, { readonly content: Buffer; readonly type: string }>;

/** Starts a registry that has every image asked for: three layers with busybox, of which no other image has any. */
export async function startSilentRegistry(): Promise<SilentRegistry> {
  const images = new Map<string, Image>();
  let silent = 0;
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const path = new URL(request.url ?? "/", "http://registry").pathname;
    const [, name = "", reference = ""] = /^\/v2\/(.+)\/(?:manifests|blobs)\/([^/]+)$/.exec(path) ??
      [];
    if (name === "") return void response.end("{}");
    const image = images.getOrInsertComputed(name, () => imageOf(name));
    const part = image.get(reference);
    if (part === undefined) return void response.writeHead(404).end("{}");
    const { content, type } = part;
    response.writeHead(200, {
      "Content-Type": type,
      "Content-Length": content.length,
      ...(type === MANIFEST ? { "Docker-Content-Digest": digestOf(content) } : {}),
    });
    if (request.method === "HEAD") response.end();
    else if (!name.includes("silent") || type !== LAYER) response.end(content);
    else {
      silent++;
      response.write(content.subarray(0, content.length >> 1));
    }
  };
  const port = await freePort();
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    host: `127.0.0.1:${port}`,
    silent: () => silent,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function imageOf(name: string): Image {
  const tars = [0, 1, 2].map((at) => {
    const args = ["-C", "/", "--mtime=@1", `--transform=s,usr/bin,${name}-${at},`];
    const made = spawnSync("tar", [...args, "-c", "usr/bin/busybox"], { maxBuffer: 1 << 26 });
    return made.stdout;
  });
  const layers = tars.map((tar) => gzipSync(tar, { level: 1 }));
  const config = Buffer.from(JSON.stringify({
    architecture: process.arch === "x64" ? "amd64" : process.arch,
    os: "linux",
    config: { Entrypoint: [`/${name}-0/busybox`], Cmd: ["sleep", "100000"] },
    rootfs: { type: "layers", diff_ids: tars.map(digestOf) },
  }));
  const part = (mediaType: string, content: Buffer) => ({
    mediaType,
    size: content.length,
    digest: digestOf(content),
  });
  const manifest = Buffer.from(JSON.stringify({
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: part(CONFIG, config),
    layers: layers.map((each) => part(LAYER, each)),
  }));
  return new Map([
    ["latest", { content: manifest, type: MANIFEST }],
    [digestOf(manifest), { content: manifest, type: MANIFEST }],
    [digestOf(config), { content: config, type: CONFIG }],
    ...layers.map((each) => [digestOf(each), { content: each, type: LAYER }] as const),
  ]);
}
