import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EngineApi } from "../../../src/docker/api.ts";
import type { JsonRecord } from "../../../src/docker/json.ts";
import { picked } from "../../../src/docker/kept_parts.ts";
import { describeContainers } from "../../../src/docker/container_summary.ts";
import { serviceOf, taskOf } from "../../../src/docker/swarm_calls.ts";

/** The summary of one container that an engine lists with these fields. */
async function summaryOf(
  fields: Readonly<Record<string, unknown>>,
  labels: Readonly<Record<string, string>> = {},
) {
  const entry = { Id: "1", Names: ["/shop-web-1"], State: "running", Labels: {}, ...fields };
  const list: EngineApi["list"] = (_request, { of, keep }) => {
    const made = of(picked(JSON.parse(JSON.stringify(entry)), keep) as JsonRecord);
    return Promise.resolve(made === undefined ? [] : [made]);
  };
  const api = { list } as Pick<EngineApi, "list"> as EngineApi;
  const [found] = await describeContainers(api, labels, new AbortController().signal);
  return found ?? assert.fail("nothing was listed");
}

describe("describeContainers()", () => {
  it("tells the program, and none of its arguments", async () => {
    for (
      const [command, program] of [
        ["nginx -g 'daemon off;'", "nginx"],
        ['"/entry.sh --password canary"', "/entry.sh"],
        ["", ""],
        [undefined, ""],
      ]
    ) {
      assert.equal((await summaryOf({ Command: command })).program, program);
    }
  });

  it("takes what is no time for the first instant", async () => {
    for (const [written, time] of [[1.5, 1500], [1e300, 0], [-1e300, 0], [1e999, 0], ["x", 0]]) {
      assert.equal((await summaryOf({ Created: written })).createdAt.getTime(), time);
    }
    for (const at of ["x", "", "+999999-01-01T00:00:00Z", 1e300]) {
      const { createdAt, updatedAt } = serviceOf({ CreatedAt: at, UpdatedAt: at });
      const times = [createdAt, updatedAt, taskOf({ CreatedAt: at }).createdAt];
      for (const time of times) assert.equal(time.toISOString(), "1970-01-01T00:00:00.000Z");
    }
  });

  it("tells where an image is from, within 2 KiB, also where others have many labels", async () => {
    const image = (name: string) => `org.opencontainers.image.${name}`;
    const project = "com.docker.compose.project";
    const short = { [image("version")]: "1.2", [image("source")]: "https://h.example/o/r" };
    const others = { other: "x", [image("unheard-of")]: "x", [image("title")]: "x".repeat(70_000) };
    const place = { [project]: "shop", "com.docker.compose.container-number": "1" };
    const own = { ...place, "stackwright.job.run": "x".repeat(4096) };
    const Labels = { [image("description")]: "x".repeat(2048), ...others, ...own, ...short };
    for (const filter of [{}, { [project]: "shop" }]) {
      assert.deepEqual((await summaryOf({ Labels }, filter)).labels, { ...own, ...short });
    }
  });

  it("counts the volumes of the engine itself", async () => {
    const Mounts = [
      { Type: "volume", Driver: "local", Name: "shop_data" },
      { Type: "volume", Driver: "nfs", Name: "shop_far" },
      { Type: "bind", Source: "/srv" },
    ];
    const { localVolumes, mounts } = await summaryOf({ Mounts });
    assert.equal(localVolumes, 1);
    assert.deepEqual(mounts, ["/srv", "shop_data", "shop_far"]);
  });
});
