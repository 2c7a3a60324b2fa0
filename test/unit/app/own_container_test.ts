import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { findOwnContainer, type OwnParts } from "../../../src/app/own_container.ts";
import type { EngineClient, OwnContainer } from "../../../src/docker/mod.ts";
import { errors } from "../../../src/model/mod.ts";
import { systemFiles } from "../../../src/system/mod.ts";

const SIDECAR = "4711".repeat(16);
const OURS = "0815".repeat(16);
const never = new AbortController().signal;
const VOLUME = "/var/lib/docker/volumes/sw/_data";

/** A container as the engine has it: places whose files it shows there, modes, and what it joins. */
interface Container {
  readonly id: string;
  readonly name: string;
  readonly joins?: string;
  readonly state?: string;
  /** Directories of ours that the engine finds in it. */
  readonly shows?: readonly string[];
  /** What it does with questions for files, in the place of an answer. */
  readonly asked?: () => Promise<boolean>;
  readonly host?: Readonly<Record<string, string>>;
  readonly mounts?: readonly object[];
}

const all = (id: string) => id.repeat(64).slice(0, 64);
const sidecar: Container = { id: SIDECAR, name: "vpn" };
const ours: Container = { id: OURS, name: "ours", joins: SIDECAR, shows: ["tmp", "data"] };
const SPY_MOUNTS = ["/dev/shm", "/dev/mqueue", "/sys/firmware", "/sys/fs/cgroup", "/data"]
  .map((destination) => ({ kind: "volume", name: "spy", source: VOLUME, destination }));
const spy: Container = { id: all("5"), name: "spy", joins: SIDECAR, mounts: SPY_MOUNTS };

describe("findOwnContainer() of a process in the network of another container", () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "stackwright-test-"));
    for (const each of ["tmp", "data"]) await systemFiles.makeDirectory(join(directory, each));
  });
  after(() => rm(directory, { recursive: true }));

  /** Finds it on an engine with these containers. */
  async function find(
    containers: readonly Container[],
    { groups = "0::/\n", places = ["tmp", "data"] }: {
      groups?: string;
      places?: readonly string[];
    } = {},
  ): Promise<OwnContainer | undefined> {
    const mountInfo = "1 2 0:1 / / rw - overlay overlay rw\n" +
      `3 4 8:1 /var/lib/docker/containers/${SIDECAR}/hosts /etc/hosts rw - ext4 /dev/sda rw\n` +
      `5 4 8:1 ${VOLUME} /data rw - ext4 /dev/sda rw\n` +
      ["/dev/shm", "/dev/mqueue", "/sys/firmware", "/sys/fs/cgroup"]
        .map((at) => `6 4 0:9 / ${at} rw - tmpfs tmpfs rw\n`).join("");
    const files = {
      ...systemFiles,
      readIfExists: (path: string) =>
        Promise.resolve(new TextEncoder().encode(path.endsWith("cgroup") ? groups : mountInfo)),
    };
    const details = ({ id, name, host, mounts = [] }: Container) => ({
      ...{ container: { id, name }, mounts, host },
    });
    const engine = {
      inspectContainer: (id: string) => {
        const found = containers.find((each) => each.id === id);
        return Promise.resolve(found && details(found));
      },
      listContainers: () =>
        Promise.resolve(containers.map((each) => ({ state: "running", ...each }))),
      async fileHas(id: string, { path, text }: { path: string; text: string }) {
        const { shows = [], asked } = containers.find((each) => each.id === id) ?? {};
        if (asked !== undefined) return await asked();
        assert.equal(await readFile(path, "utf8"), text);
        return shows.some((each) => path.startsWith(join(directory, each)));
      },
    } as unknown as EngineClient;
    const prefixes = places.map((each) => join(directory, each, "own-"));
    const parts: OwnParts = { files, engine, places: prefixes };
    const found = await findOwnContainer(parts, never);
    assert.deepEqual(await systemFiles.list(join(directory, "tmp")), []);
    assert.deepEqual(await systemFiles.list(join(directory, "data")), []);
    return found;
  }
  const idOf = async (...given: Parameters<typeof find>) => (await find(...given))?.container.id;

  it("finds the one that shows what this process writes, whatever others mount", async () => {
    assert.equal(await idOf([sidecar, ours]), OURS);
    assert.equal(await idOf([sidecar, spy, ours]), OURS);
  });

  it("finds it by the data directory where its temporary files are in no layer, or in that of others", async () => {
    const readOnly = { ...ours, shows: ["data"] };
    assert.equal(await idOf([sidecar, spy, readOnly]), OURS);
    assert.equal(await idOf([sidecar, spy, readOnly], { places: ["none", "data"] }), OURS);
    const backup = { ...spy, shows: ["data"] };
    assert.equal(await idOf([sidecar, backup, ours]), OURS);
    assert.equal(await idOf([sidecar, { ...spy, shows: ["tmp"] }, ours]), OURS);
  });

  it("finds it by way of one that joined before", async () => {
    const between = { id: all("c"), name: "between", joins: SIDECAR };
    assert.equal(await idOf([sidecar, { ...ours, joins: all("c") }, between]), OURS);
  });

  it("finds it where the owner of the network is gone, or another one on the way", async () => {
    assert.equal(await idOf([ours]), OURS);
    assert.equal(await idOf([spy, ours]), OURS);
    const stranger = { ...spy, joins: all("6") };
    assert.equal(await idOf([stranger, { ...ours, joins: all("7") }]), OURS);
    assert.equal(await idOf([stranger]), undefined);
    assert.equal(await idOf([]), undefined);
  });

  it("leaves out what does not run, and waits for none that does not answer", async () => {
    assert.equal(
      await idOf([sidecar, { ...spy, state: "exited", shows: ["tmp", "data"] }, ours]),
      OURS,
    );
    const hangs = () => Promise.reject(errors.engine_unreachable("no answer within 20 s"));
    assert.equal(await idOf([sidecar, { ...spy, asked: hangs }, ours]), OURS);
    await assert.rejects(find([{ ...ours, joins: all("7"), asked: hangs }]), {
      code: "engine_unreachable",
    });
  });

  it("asks the control group first", async () => {
    const groups = `0::/system.slice/docker-${OURS}.scope\n`;
    assert.equal(await idOf([sidecar, { ...ours, shows: [] }], { groups }), OURS);
  });

  it("says which cannot be told apart", async () => {
    const twin = { ...ours, id: all("d"), name: "twin" };
    for (const shows of [ours.shows ?? [], []]) {
      await assert.rejects(find([sidecar, { ...ours, shows }, { ...twin, shows }]), {
        code: "settings_invalid",
        message: /cannot be told: vpn, ours, twin share a network, and the engine shows in none/,
      });
    }
  });

  it("knows the containers whose namespaces it has, over any number of others", async () => {
    const joining = { NetworkMode: `container:${SIDECAR}`, PidMode: `container:${all("9")}` };
    const vpn = { ...sidecar, host: { NetworkMode: `container:${all("8")}` } };
    const found = await find([
      vpn,
      { ...ours, host: { ...joining, IpcMode: `container:${SIDECAR}` } },
      { id: all("8"), name: "gate" },
      { id: all("9"), name: "shell", host: { NetworkMode: `container:${OURS}` } },
      spy,
    ]);
    const names = found?.lenders?.map(({ container }) => container.name);
    assert.deepEqual(names?.toSorted(), ["gate", "shell", "vpn"]);
    const gone = await find([{ ...ours, host: joining }]);
    assert.deepEqual([gone?.container.id, gone?.lenders], [OURS, []]);
  });
});
