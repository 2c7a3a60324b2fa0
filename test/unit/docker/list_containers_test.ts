import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EngineApi } from "../../../src/docker/api.ts";
import { describeContainers } from "../../../src/docker/container_summary.ts";
import { containerCalls } from "../../../src/docker/containers.ts";
import type { LabelFilter } from "../../../src/docker/engine.ts";
import type { Transport } from "../../../src/docker/transport.ts";

const never = new AbortController().signal;
const PROJECT = "com.docker.compose.project";
const PLACE = { [PROJECT]: "shop", "com.docker.compose.container-number": "1" };
/** Labels with which an image's author makes its containers look like runs of shop's jobs. */
const FORGED = {
  [PROJECT]: "shop",
  "com.docker.compose.oneoff": "True",
  "stackwright.job.run": "1",
  "stackwright.job.enabled": "true",
};

/** Labels of whatever is made from an image that compose built; hooks have the same. */
const INHERITED = {
  [PROJECT]: "shop",
  "com.docker.compose.service": "web",
  "com.docker.compose.version": "5.5.0",
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
      Labels: { ...PLACE, "com.docker.swarm.service.id": "" },
    },
    { Id: "3", Names: ["/shop-db-1"], Labels: PLACE },
    { Id: "4", Names: ["/debug"], Labels: INHERITED },
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
    it("of a compose project are no tasks of a swarm, and nothing that its image says it of", async () => {
      assert.deepEqual(await listed(list, PROJECT), ["shop-web-1", "shop-db-1"]);
    });

    it("with another label may be tasks of a swarm", async () => {
      assert.equal((await listed(list, "stackwright.job.enabled")).length, 4);
    });

    it("are those with all labels of hooks, where these are asked for", async () => {
      const label = "com.docker.compose.version";
      assert.ok((await listed(list, label)).includes("debug"));
    });
  });
}
