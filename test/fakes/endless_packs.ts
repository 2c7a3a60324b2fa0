import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import type { AddressInfo } from "node:net";

/** A server of repositories whose packs do not end. */
interface EndlessPacks {
  /** The URL of the repository of a name. */
  url(name: string): string;
  close(): Promise<void>;
}

const ID = "1".repeat(40);
/** Bytes of one piece of a pack. */
const PIECE = 60_000;

const line = (content: Buffer | string) => {
  const length = Buffer.byteLength(content) + 4;
  return Buffer.concat([
    Buffer.from(length.toString(16).padStart(4, "0")),
    Buffer.from(content),
  ]);
};

/**
 * Starts a server of repositories that all have a branch `main`. Their pack has one object of gigabytes, of
 * which `bytes` come at once and nothing more.
 */
export async function startEndlessPacks(bytes: number): Promise<EndlessPacks> {
  const server = createServer(async (request, response) => {
    if (request.method === "GET") {
      response.setHeader("content-type", "application/x-git-upload-pack-advertisement");
      const able = ["version 2\n", "ls-refs\n", "fetch=shallow\n", "object-format=sha1\n"];
      const service = line("# service=git-upload-pack\n");
      response.end(
        Buffer.concat([service, Buffer.from("0000"), ...able.map(line), Buffer.from("0000")]),
      );
      return;
    }
    const asked = await text(request);
    response.setHeader("content-type", "application/x-git-upload-pack-result");
    if (asked.includes("command=ls-refs")) {
      const refs = [`${ID} HEAD symref-target:refs/heads/main\n`, `${ID} refs/heads/main\n`];
      response.end(Buffer.concat([...refs.map(line), Buffer.from("0000")]));
      return;
    }
    response.write(line("packfile\n"));
    // One blob of 2 GiB, in stored blocks.
    const header = [0xb0, 0x80, 0x80, 0x80, 0x40, 0x78, 0x01];
    response.write(
      line(Buffer.from([1, ...Buffer.from("PACK"), 0, 0, 0, 2, 0, 0, 0, 1, ...header])),
    );
    const block = Buffer.from([0, 0, 0, 0, 0]);
    block.writeUInt16LE(PIECE, 1);
    block.writeUInt16LE(PIECE ^ 0xffff, 3);
    for (let sent = 0; sent < bytes; sent += PIECE) {
      response.write(line(Buffer.concat([Buffer.from([1]), block, randomBytes(PIECE)])));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (name) => `http://127.0.0.1:${port}/o/${name}.git`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
