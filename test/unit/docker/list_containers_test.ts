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
async function listed(
  list: Listing,
  label: string,
  { containers = CONTAINERS, value, images = {}, store = "overlay2" }: {
    /** How the engine stores images. */
    readonly store?: string;
    readonly containers?: readonly object[];
    readonly value?: string | undefined;
    /** Labels of images by their ids; `null` for one that is gone, and a text for one that is refused. */
    readonly images?: Readonly<Record<string, object | string | null>>;
  } = {},
) {
  const asked: string[] = [];
  const transport: Transport = {
    description: "engine",
    request({ path }) {
      if (path === "/version") return answer({ ApiVersion: "1.45", Version: "26.1" });
      const [, id] = /\/images\/(.+)\/json$/.exec(path) ?? [];
      if (path === "/v1.45/info") return answer({ DriverStatus: [["driver-type", store]] });
      if (id === undefined) return answer(containers);
      asked.push(id);
      if (typeof images[id] === "string") return answer({ message: images[id] }, 500);
      if (images[id] === null) return answer({ message: "No such image" }, 404);
      return answer({ Id: id, Config: { Labels: images[id] } });
    },
    close() {},
  };
  const found = await list(new EngineApi(transport), { [label]: value });
  return Object.assign(found.map(({ name }) => name), { asked });
}

const CONTAINERS = [
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

function answer(value: unknown, status = 200) {
  async function* body() {
    await Promise.resolve();
    yield new TextEncoder().encode(JSON.stringify(value));
  }
  return Promise.resolve({ status, headers: {}, body: body(), discard() {} });
}

for (const [how, list] of Object.entries(LISTINGS)) {
  describe(`containers, ${how}`, () => {
    it("of a compose project are no tasks of a swarm, and nothing that its image says it of", async () => {
      assert.deepEqual([...await listed(list, PROJECT)], ["shop-web-1", "shop-db-1"]);
    });

    const one = (name: string, ImageID: string, Labels: object) => (
      { Id: name, Names: [`/${name}`], ImageID, Labels }
    );

    it("of a project, and of all, are nothing of an image that is gone and that their labels do not name", async () => {
      const made = { ...PLACE, "com.docker.compose.image": "web" };
      const containers = [
        one("shop-web-1", "web", made),
        one("mine", "gone", made),
        one("shop-new-1", "gone", { ...made, "com.docker.compose.image": "gone" }),
        one("shop-old-1", "gone", PLACE),
      ];
      for (const value of ["shop", undefined]) {
        const images = { gone: null };
        assert.deepEqual([...await listed(list, PROJECT, { containers, value, images })], [
          "shop-web-1",
          "shop-new-1",
          "shop-old-1",
        ]);
        // There, images go with their last names, and have other ids than containers tell.
        const store = "io.containerd.snapshotter.v1";
        const all = await listed(list, PROJECT, { containers, value, images, store });
        assert.equal(all.length, containers.length);
      }
    });

    it("of all are told where the engine says nothing of an image, or too many would be asked of", async () => {
      const made = { ...PLACE, "com.docker.compose.image": "web" };
      const images = { bad: "no", committed: made };
      const few = [one("b", "bad", made), one("c", "committed", made)];
      assert.deepEqual([...await listed(list, PROJECT, { containers: few, images })], ["b"]);
      const asking = listed(list, PROJECT, { containers: few, value: "shop", images });
      await assert.rejects(asking, { code: "engine_refused" });
      const many = Array.from({ length: 60 }, (_, at) => one(`c${at}`, `i${at}`, made));
      const told = await listed(list, PROJECT, { containers: [...many, ...few], images });
      assert.deepEqual([told.length, told.asked.length], [62, 50]);
    });

    it("of a compose project are nothing of an image that has all its labels, as one that was committed", async () => {
      const made = { ...PLACE, "com.docker.compose.image": "web" };
      const containers = [
        one("shop-web-1", "web", made),
        one("debug", "committed", { ...made, rev: "1" }),
        one("hub", "hub", PLACE),
        one("shop-hub-1", "hub", { ...PLACE, "com.docker.compose.image": "hub" }),
        one("shop-old-1", "old", PLACE),
        one("shop-new-1", "committed", { ...made, "com.docker.compose.image": "committed" }),
        one("shop-content-1", "index", { ...made, "com.docker.compose.image": "content" }),
      ];
      const images = { committed: made, hub: PLACE, old: {}, index: made };
      for (const value of ["shop", undefined]) {
        const found = await listed(list, PROJECT, { containers, value, images });
        assert.deepEqual([...found], [
          "shop-web-1",
          "shop-hub-1",
          "shop-old-1",
          "shop-new-1",
          "shop-content-1",
        ]);
        assert.deepEqual(found.asked, ["committed", "hub", "old", "index"]);
      }
    });

    it("with a job's label are nothing of an image that was committed from a job's container", async () => {
      const job = "stackwright.job.enabled";
      const made = { ...PLACE, [job]: "true", "com.docker.compose.image": "web" };
      const containers = [
        one("shop-backup-1", "web", made),
        one("mine", "committed", made),
        one("by-hand", "labelled", { [job]: "true" }),
      ];
      const found = await listed(list, job, { containers, images: { committed: made } });
      assert.deepEqual([...found], ["shop-backup-1", "by-hand"]);
      assert.deepEqual(found.asked, ["committed"]);
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
