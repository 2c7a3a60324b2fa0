import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { OldDataParts } from "../../../src/deploy/copy_old_data.ts";
import { sharersOf } from "../../../src/deploy/old_data_sharers.ts";
import { longestStretch } from "../processor_time.ts";

const US = { name: "shop", left: [{ id: "shop-orphan" }], ended: [{ id: "shop-run-awaited" }] };
const never = new AbortController().signal;

/** An engine that has a container of each project, or without one, with these mounts. */
function partsOf(mounts: Readonly<Record<string, readonly string[]>>) {
  const all = Object.entries(mounts).map(([name, mounts]) => (
    {
      ...{
        id: name,
        name,
        project: /^single/.test(name) ? "" : name.replace(/-(?:orphan|run.*)/, ""),
        mounts,
      },
      ...{ isOneOff: name.includes("-run"), state: name.endsWith("-over") ? "exited" : "running" },
      image: name === "single-peer" ? "ghcr.io/kimdre/doco-cd:latest" : "backup:1",
    }
  ));
  const engine = { containerMounts: () => Promise.resolve(all) };
  const host = { engine, own: () => Promise.resolve({ container: { id: "single-us" } }) };
  return { host } as unknown as Pick<OldDataParts, "host">;
}

describe("sharersOf()", () => {
  it("finds who mounts a directory, something in it, or one around it in the old copy", async () => {
    const parts = partsOf({
      ...{ same: ["/o/r/in/data"], deeper: ["/o/r/in/data/x/y"], around: ["/x", "/o/r/in"] },
      ...{ root: ["/o/r"], slash: ["/o/r/in/data/"], "single-one": ["/o/r/in/data"] },
      ...{ shop: ["/o/r/in/data"], "single-us": ["/o/r/in/data"] },
      ...{
        slashes: ["/"],
        "single-peer": ["/o"],
        alike: ["/o/r/in/data2", "/o/r/in/dat"],
        volume: ["data"],
      },
    });
    const wanted = [{ source: "/o/r/in/data", path: "in/data" }, { source: "/z", path: "z" }];
    assert.deepEqual(Object.fromEntries(await sharersOf(parts, US, wanted, never)), {
      "/o/r/in/data": "around, container single-one, deeper, root, same and 1 more",
    });
  });

  it("finds what mounts the directories above the old copy, and orphans of the stack that are left", async () => {
    const parts = partsOf({
      ...{ "single-backup": ["/data/h/o"], all: ["/data"], outside: ["/srv"], root: ["/"] },
      ...{ "shop-orphan": ["/srv/data/h/o/r/data"], shop: ["/srv/data/h/o/r/data"] },
      "single-backup-of-all": ["/srv/data"],
    });
    const wanted = [{ source: "/srv/data/h/o/r/data", path: "data" }];
    assert.deepEqual([...(await sharersOf(parts, US, wanted, never)).values()], [
      "container shop-orphan, container single-backup-of-all",
    ]);
  });

  it("finds what `compose run` made of the stack, and runs, but no job that is waited for", async () => {
    const mounts = ["/o/r/data"];
    const names = ["shop", "shop-run", "shop-run-over", "shop-run-awaited"];
    const parts = partsOf(Object.fromEntries(names.map((name) => [name, mounts])));
    const found = await sharersOf(parts, US, [{ source: "/o/r/data", path: "data" }], never);
    assert.deepEqual([...found.values()], ["container shop-run"]);
  });

  it("does not stop the service with as many and deep mounts as others may have", async () => {
    const deep = `/tmp${"/abcdefghijklmn".repeat(252)}`;
    const mounts = Object.fromEntries(
      Array.from({ length: 6 }, (_, stack) => [
        `stack${stack}`,
        Array.from({ length: 940 }, (_, at) => `${deep}/${stack}-${at}`),
      ]),
    );
    for (const many of [1, 940]) {
      const wanted = Array.from({ length: many }, (_, at) => (
        { source: many === 1 ? deep : `${deep}/0-${at}/x`, path: "x" }
      ));
      const work = () => sharersOf(partsOf(mounts), US, wanted, never);
      const longest = await longestStretch(work);
      assert.ok(longest < 500, `${many} directories: ${longest} ms`);
    }
  });
});
