import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { groupContainerId, hasOurRoot, oursAmong } from "../../../src/docker/own_container.ts";

const ID = "0123456789abcdef".repeat(4);
const OTHER = "f".repeat(64);
const LAYERS = "/var/lib/docker/overlay2";

const root = (upper: string) =>
  `235 135 0:41 / / rw,relatime - overlay overlay rw,lowerdir=${LAYERS}/l/A:${LAYERS}/l/B,upperdir=${upper},workdir=w\n`;

describe("groupContainerId()", () => {
  const table: [what: string, mounts: string, groups: string, id: string | undefined][] = [
    ["a host", "", "0::/system.slice/stackwright.service\n", undefined],
    ["control groups v1", "", `9:cpu:/docker/${ID}\n0::/docker/${ID}\n`, ID],
    ["control groups v2 of systemd", "", `0::/system.slice/docker-${ID}.scope\n`, ID],
    ["a container in a container", "", `0::/docker/${OTHER}/docker/${ID}\n`, ID],
    ["a namespace of its own", "", "0::/\n", undefined],
    [
      "the mounts of its groups",
      `241 240 0:29 /docker/${ID} /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n`,
      "0::/\n",
      ID,
    ],
    [
      "a host with a volume that leads to a container's group",
      `9 8 0:5 /docker/${ID} /var/lib/docker/volumes/v/_data rw - cgroup2 cgroup2 rw\n`,
      "0::/\n",
      undefined,
    ],
  ];
  for (const [what, mounts, groups, id] of table) {
    it(`is ${id === undefined ? "undefined" : "the id"} for ${what}`, () => {
      assert.equal(groupContainerId({ mounts, groups }), id);
    });
  }
});

describe("hasOurRoot()", () => {
  const has = (upperDirectory: string, mounts: string) =>
    hasOurRoot({ upperDirectory }, { mounts, groups: "" });

  it("compares the container's own layer, also where the engine shortened its path", () => {
    assert.equal(has(`${LAYERS}/x/diff`, root(`${LAYERS}/x/diff`)), true);
    assert.equal(has(`${LAYERS}/x/diff`, root("x/diff")), true);
    assert.equal(has(`${LAYERS}/y/diff`, root(`${LAYERS}/x/diff`)), false);
    assert.equal(has(`${LAYERS}/y/diff`, "1 2 0:1 / / rw - ext4 /dev/sda rw\n"), undefined);
    assert.equal(hasOurRoot({}, { mounts: root("/x"), groups: "" }), undefined);
  });
});

describe("oursAmong()", () => {
  const mount = (source: string, destination: string) =>
    ({ kind: "volume", name: "", source, destination, writable: true }) as const;
  const data = mount("/var/lib/docker/volumes/sw/_data", "/data");
  const seen = "9 8 8:1 /var/lib/docker/volumes/sw/_data /data rw - ext4 /dev/sda rw\n";
  const vpn = { name: "vpn", mounts: [] };
  const ours = { name: "ours", mounts: [data] };

  it("is the one whose layer is our root, whatever is mounted", () => {
    const layers = [
      { ...ours, upperDirectory: `${LAYERS}/y/diff` },
      { ...vpn, upperDirectory: `${LAYERS}/x/diff` },
    ];
    const mounts = root(`${LAYERS}/x/diff`) + seen;
    assert.equal(oursAmong(layers, { mounts, groups: "" })?.name, "vpn");
  });

  it("is the one with most of our mounts where no layer is told", () => {
    const elsewhere = {
      name: "other",
      mounts: [mount("/var/lib/docker/volumes/b/_data", "/data")],
    };
    const more = { name: "more", mounts: [data, mount("/srv/x", "/x")] };
    const traces = { mounts: root("/x") + seen, groups: "" };
    assert.equal(oursAmong([vpn, elsewhere, more, ours], traces)?.name, "ours");
  });

  it("is none where two have the same", () => {
    const traces = { mounts: root("/x") + seen, groups: "" };
    assert.equal(oursAmong([ours, { ...ours, name: "twin" }], traces), undefined);
    assert.equal(oursAmong([vpn, { ...vpn, name: "twin" }], traces), undefined);
  });
});
