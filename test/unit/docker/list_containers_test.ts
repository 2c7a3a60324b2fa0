import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EngineApi } from "../../../src/docker/api.ts";
import { describeContainers } from "../../../src/docker/container_summary.ts";
import { containerCalls } from "../../../src/docker/containers.ts";
import type { LabelFilter } from "../../../src/docker/engine.ts";
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

type Listing = (api: EngineApi, labels: LabelFilter) => Promise<readonly { name: string }[]>;
const LISTINGS: Readonly<Record<string, Listing>> = {
  "as stacks see them": (api, labels) => containerCalls(api).listContainers(labels, never),
  "as people see them": (api, labels) => describeContainers(api, labels, never),
};

/** Names of the containers in the list of an engine with a task of a swarm, asked for by a label. */
async function listed(list: Listing, label: string) {
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
  return (await list(new EngineApi(transport), { [label]: undefined })).map(({ name }) => name);
}

function answer(value: unknown) {
  async function* body() {
    await Promise.resolve();
    yield new TextEncoder().encode(JSON.stringify(value));
  }
  return Promise.resolve({ status: 200, headers: {}, body: body(), discard() {} });
}

for (const [how, list] of Object.entries(LISTINGS)) {
  describe(`containers, ${how}`, () => {
    it("of a compose project are never tasks of a swarm, whose image may name any", async () => {
      assert.deepEqual(await listed(list, PROJECT), ["shop-web-1", "shop-db-1"]);
    });

    it("with another label may be tasks of a swarm", async () => {
      assert.equal((await listed(list, "stackwright.job.enabled")).length, 3);
    });
  });
}
