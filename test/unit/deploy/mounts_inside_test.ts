import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { mountsOf } from "../../../src/deploy/jobs/swarm_job.ts";
import { requireMountsInside } from "../../../src/deploy/mod.ts";
import { systemFiles } from "../../../src/system/mod.ts";

const never = new AbortController().signal;

describe("requireMountsInside()", () => {
  let dataDir = "";
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "swt-inside-"));
    await mkdir(join(dataDir, "releases/default/shop/live/data"), { recursive: true });
    await symlink(dataDir, join(dataDir, "releases/default/shop/live/data/out"));
    await symlink("data", join(dataDir, "releases/default/shop/live/in"));
  });
  after(() => rm(dataDir, { recursive: true }));

  const device = "/host/releases/default/shop/live/data/out";
  const leads = { id: "leads", name: "leads", labels: {}, driver: "local", options: { device } };
  const look = (kind: string, name: string, source: string) =>
    requireMountsInside(
      {
        engine: {
          findVolumes: (names) => Promise.resolve(names.includes("leads") ? [leads] : []),
          everyVolume: (isWanted) => Promise.resolve(isWanted("leads") ? [leads] : []),
        },
        files: systemFiles,
        dataDir,
        hostDataDir: "/host",
      },
      [{ kind, name, source }],
      never,
    );

  for (
    const [kind, name, source, leads] of [
      ["bind", "", "/host/releases/default/shop/live/data/out", true],
      ["bind", "", "/host/releases/default/shop/live/data/out/below", true],
      ["bind", "", "/host/releases/default/shop/live/data/{{.Node.Hostname}}", true],
      ["bind", "", "/host/releases/default/shop/live/data/o{{.Task.Slot}}/below", true],
      ["bind", "", "/host/releases/default/shop/live/data/x{{.Task.Slot}}", false],
      ["volume", "leads", "", true],
      ["volume", "lead{{.Node.Hostname}}", "", true],
      ["volume", "other{{.Node.Hostname}}", "", false],
      ["volume", "", device, true],
      ["volume", "plain", "/var/lib/docker/volumes/plain/_data", false],
      ["bind", "", "/host/releases/default/shop/live/data", false],
      ["bind", "", "/host/releases/default/shop/live/in", false],
      ["bind", "", "/host/releases/default/shop/live", false],
      ["bind", "", "/host/releases/default/shop/current/conf", false],
      ["bind", "", "/srv/data/out", false],
      ["tmpfs", "", "", false],
    ] as const
  ) {
    it(`${leads ? "refuses" : "allows"} a ${kind} of ${name || source}`, async () => {
      const looked = look(kind, name, source);
      if (leads) await assert.rejects(looked, { code: "path_escapes", message: /leads out of/ });
      else await looked;
    });
  }
});

describe("mountsOf()", () => {
  it("tells binds, volumes and where these lead", () => {
    const Mounts = [
      { Type: "bind", Source: "/srv", Target: "/a" },
      { Type: "volume", Source: "data", Target: "/b" },
      {
        Type: "volume",
        Source: "led",
        VolumeOptions: { DriverConfig: { Options: { device: "/x", o: "bind" } } },
      },
    ];
    assert.deepEqual(mountsOf({ spec: { TaskTemplate: { ContainerSpec: { Mounts } } } }), [
      { kind: "bind", name: "", source: "/srv" },
      { kind: "volume", name: "data", source: "" },
      { kind: "volume", name: "led", source: "/x" },
    ]);
  });
});
