import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createEngine } from "../../../src/docker/mod.ts";
import { startHostileEngine } from "../../fakes/hostile_engine.ts";

const signal = new AbortController().signal;

const answer = (status: string, body: string) =>
  `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const MISSED = answer(
  "404 Not Found",
  '{"message":"NotFound: content digest sha256:1: not found"}',
);
const LISTED = answer("200 OK", '[{"Id":"1","RepoTags":["shop:1"]}]');

describe("listImages()", () => {
  const listing = async (answers: readonly string[]) => {
    const hostile = await startHostileEngine();
    const engine = createEngine({ host: `unix://${hostile.socketPath}` });
    const left = [...answers];
    hostile.answer = {
      get pieces() {
        return [left.shift() ?? LISTED];
      },
    };
    try {
      const images = await engine.listImages(signal).catch(({ code }) => code);
      return { images: images.length === 1 ? images[0].tags : images, left: left.length };
    } finally {
      engine.close();
      await hostile.close();
    }
  };

  it("asks again where an image was removed while the engine listed", async () => {
    assert.deepEqual(await listing([MISSED, MISSED, LISTED]), { images: ["shop:1"], left: 0 });
  });

  it("fails where the engine misses something for good, or refuses for another reason", async () => {
    assert.deepEqual(await listing([MISSED, MISSED, MISSED, LISTED]), {
      images: "engine_refused",
      left: 1,
    });
    assert.deepEqual(await listing([answer("500 Oh", "{}"), LISTED]), {
      images: "engine_refused",
      left: 1,
    });
  });
});
