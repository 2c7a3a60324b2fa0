import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EngineApi } from "../../../src/docker/api.ts";
import { containerCalls } from "../../../src/docker/containers.ts";
import type { Transport } from "../../../src/docker/transport.ts";

const never = new AbortController().signal;
const PROJECT = "com.docker.compose.project";
/** Labels with which an image's author makes its containers look like runs of shop's jobs. */
const FORGED = {
  [PROJECT]: "shop",
  "com.docker.compose.oneoff": "True",
  "stackwright.job.run": "1",
  "stackwright.job.enabled": "true",
};

/** Names of the containers in the list of an engine with a task of a swarm, asked for by a label. */
async function listed(label: string) {
  const containers = [
    {
      Id: "1",
      Names: ["/evil_web.1.x"],
      Labels: { ...FORGED, "com.docker.swarm.service.id": "s" },
    },
    {
      Id: "2",
      Names: ["/shop-web-1"],
      Labels: { [PROJECT]: "shop", "com.docker.swarm.service.id": "" },
    },
    { Id: "3", Names: ["/shop-db-1"], Labels: { [PROJECT]: "shop" } },
  ];
  const transport: Transport = {
    description: "engine",
    request({ path }) {
      const isVersion = path === "/version";
      return answer(isVersion ? { ApiVersion: "1.45", Version: "26.1" } : containers);
    },
    close() {},
  };
  const calls = containerCalls(new EngineApi(transport));
  return (await calls.listContainers({ [label]: undefined }, never)).map(({ name }) => name);
}

function answer(value: unknown) {
  async function* body() {
    await Promise.resolve();
    yield new TextEncoder().encode(JSON.stringify(value));
  }
  return Promise.resolve({ status: 200, headers: {}, body: body(), discard() {} });
}

describe("the containers of a compose project", () => {
  it("are never tasks of a swarm, whose image may name any project", async () => {
    assert.deepEqual(await listed(PROJECT), ["shop-web-1", "shop-db-1"]);
  });
});

describe("containers with another label", () => {
  it("may be tasks of a swarm", async () => {
    assert.equal((await listed("stackwright.job.enabled")).length, 3);
  });
});
