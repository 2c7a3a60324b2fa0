import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EngineApi } from "../../../src/docker/api.ts";
import { removeContainer } from "../../../src/docker/containers.ts";
import type { Transport } from "../../../src/docker/transport.ts";

const never = new AbortController().signal;
const IN_PROGRESS = "removal of container 4711 is already in progress";

/** Removes container 4711 of an engine that answers as `answers` say; returns what it was asked. */
async function remove(...answers: readonly (readonly [status: number, message: string])[]) {
  const asked: string[] = [];
  const transport: Transport = {
    description: "engine",
    request({ method, path }) {
      if (path === "/version") return answer(200, { ApiVersion: "1.45", Version: "26.1" });
      asked.push(`${method} ${path.replace("/v1.45/containers/4711", "")}`);
      const [status, message] = answers[asked.length - 1] ?? [500, "asked once too often"];
      return answer(status, { message });
    },
    close() {},
  };
  const target = { id: "4711", force: true, volumes: false };
  await removeContainer(new EngineApi(transport), target, never);
  return asked;
}

function answer(status: number, value: unknown) {
  async function* body() {
    await Promise.resolve();
    yield new TextEncoder().encode(JSON.stringify(value));
  }
  return Promise.resolve({ status, headers: {}, body: body(), discard() {} });
}

describe("removeContainer()", () => {
  const DELETE = "DELETE ?force=true&v=false";
  const WAIT = "POST /wait?condition=removed";

  it("is content with a container that is gone", async () => {
    assert.deepEqual(await remove([204, ""]), [DELETE]);
    assert.deepEqual(await remove([404, "No such container: 4711"]), [DELETE]);
  });

  // Engines call it either.
  for (const status of [409, 400]) {
    it(`waits for the end of a removal by somebody else (${status})`, async () => {
      const gone = [404, "No such container: 4711"] as const;
      const asked = [DELETE, WAIT, DELETE];
      assert.deepEqual(await remove([status, IN_PROGRESS], [200, ""], gone), asked);
      assert.deepEqual(await remove([status, IN_PROGRESS], gone, gone), asked);
      assert.deepEqual(await remove([status, IN_PROGRESS], [200, ""], [204, ""]), asked);
    });
  }

  it("throws what the engine says where nobody can remove it", async () => {
    await assert.rejects(
      remove([409, IN_PROGRESS], [200, ""], [500, "device or resource busy"]),
      { code: "engine_refused", message: /device or resource busy/ },
    );
    await assert.rejects(remove([409, "container is paused"]), /409 container is paused/);
  });
});
