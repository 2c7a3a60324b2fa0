import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EngineApi } from "../../../src/docker/api.ts";
import { describeContainers } from "../../../src/docker/container_summary.ts";

/** The summary of one container that an engine lists with these fields. */
async function summaryOf(fields: Readonly<Record<string, unknown>>) {
  const entry = { Id: "1", Names: ["/shop-web-1"], State: "running", Labels: {}, ...fields };
  const list: EngineApi["list"] = (_request, { of }) => {
    const made = of(entry);
    return Promise.resolve(made === undefined ? [] : [made]);
  };
  const api = { list } as Pick<EngineApi, "list"> as EngineApi;
  const [found] = await describeContainers(api, {}, new AbortController().signal);
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
