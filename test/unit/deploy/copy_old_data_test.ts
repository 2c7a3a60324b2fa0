import assert from "node:assert/strict";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { bringOldData } from "../../../src/deploy/bring_old_data.ts";
import type { OldDataParts } from "../../../src/deploy/copy_old_data.ts";
import type { AdoptionNotes, ObservedStack, Release } from "../../../src/model/mod.ts";
import { LABELS, MANAGER, stackKey } from "../../../src/model/mod.ts";
import { type Command, type Commands, systemFiles } from "../../../src/system/mod.ts";

const never = new AbortController().signal;
const DAY_MS = 24 * 60 * 60 * 1000;

/** What stands in for the world: its programs, and its disk's free bytes at each look. */
interface Given {
  /** Whether something is mounted in the data, beside the words of its mountinfo. */
  readonly mounted?: boolean;
  readonly cp: (command: Command, signal: AbortSignal) => Promise<number>;
  readonly free?: () => number;
  /** Whether the data is a link to Stackwright's when the container that had it was stopped. */
  readonly swaps?: boolean;
  /** Data of the stack's own, in another data directory: what is a link to elsewhere on its way, and when. */
  readonly own?: { readonly link: string; readonly when: "before" | "meanwhile" | "never" };
  /** Gets what is noted for whoever goes on with it. */
  readonly note?: (notes: AdoptionNotes) => void;
  /** Gets what the engine is asked to change. */
  readonly calls?: string[];
}

/** Brings the data of a service along that has one file; returns what happened. */
async function bring({ cp, ...given }: Given) {
  const { free = () => 1e12, mounted = false, swaps = false, own, note = () => {}, calls = [] } =
    given;
  const root = await fs.realpath(await fs.mkdtemp(join(tmpdir(), "swt-copy-")));
  const events: string[] = [];
  try {
    const old = own === undefined ? "old" : "before/releases/default/shop/live/data";
    const [dataDir, source] = [join(root, "dir"), join(root, old)];
    await fs.mkdir(source, { recursive: true });
    await fs.mkdir(dataDir);
    const linkAway = async (when: string) => {
      if (own?.when !== when) return;
      await fs.rename(join(root, own.link), join(root, "elsewhere"));
      await fs.symlink(join(root, "elsewhere"), join(root, own.link));
    };
    await fs.writeFile(join(source, "file"), "text");
    await linkAway("before");
    let now = Date.now();
    const commands: Commands = {
      async run(command, signal) {
        const [program, , only] = command.argv;
        if (program === "cp") events.push(only === "--" ? "cp" : "rehearsal");
        const code = program === "cp" && only === "--" ? await cp(command, signal) : 0;
        return { code, stdout: new Uint8Array(), stderr: "" };
      },
      start: () => assert.fail(),
    };
    const binds = [{ source, destination: "/data", writable: true }];
    const ours = { [LABELS.manager]: MANAGER, [LABELS.sourceName]: "h/o/r" };
    const labels = own === undefined ? {} : ours;
    const web = { id: "1", name: "web-1", service: "web", state: "running", labels, binds };
    const key = stackKey("default", "shop");
    const live = join(dataDir, "releases/default/shop/live/data");
    const volumes = [{ type: "bind", source: live, target: "/data" }];
    const parts = {
      commands,
      files: {
        ...systemFiles,
        readIfExists: () =>
          Promise.resolve(
            new TextEncoder().encode(
              mounted ? `1 2 0:1 / ${source}/sub rw - ext4 /dev/x rw\n` : "",
            ),
          ),
        room: () => Promise.resolve({ free: free(), total: 1e12, entries: { free: 0, total: 0 } }),
      },
      clock: {
        now: () => new Date(now += DAY_MS / 100),
        sleep: (_: number, signal: AbortSignal) =>
          new Promise<void>((resolve, reject) => {
            setTimeout(() => signal.aborted ? reject(signal.reason) : resolve(), 1);
          }),
      },
      ledger: { current: () => undefined },
      host: {
        dataDir,
        engine: {
          inspectContainer: () =>
            Promise.resolve({ host: { RestartPolicy: { Name: "always", MaximumRetryCount: 0 } } }),
          setRestartPolicy: (id: string, { Name }: { Name: string }) =>
            Promise.resolve(void calls.push(`restart policy ${id} ${Name}`)),
          async stopContainer(id: string) {
            calls.push(`stop ${id}`);
            await linkAway("meanwhile");
            if (!swaps) return;
            await fs.rm(source, { recursive: true });
            await fs.symlink(dataDir, source);
          },
          startContainer: (id: string) => Promise.resolve(void calls.push(`start ${id}`)),
        },
        localPath: (path: string) => Promise.resolve(path),
      },
      options: { dataDir, protectedPaths: [] },
    } as unknown as OldDataParts;
    const slot = { leave: () => void events.push("leave"), takeAgain: () => Promise.resolve() };
    const asked = {
      release: {
        key,
        live: { files: {}, directories: [] },
        model: { services: { web: { volumes } } },
        revision: { source: { name: "h/o/r" } },
      } as unknown as Release,
      services: [],
      observed: { containers: [web] } as unknown as ObservedStack,
      progress: () => {},
      slot,
      halts: { had: { halted: {}, copying: [], copied: [] }, note },
    };
    await bringOldData(parts, asked, never).catch((error) => events.push(String(error.message)));
    return events;
  } finally {
    await fs.rm(root, { recursive: true });
  }
}

/** A copy that does not end by itself. */
const endless: Given["cp"] = (_, signal) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

describe("a copy of data that is brought along", () => {
  it("gives its slot to others first", async () => {
    const events = await bring({ cp: () => Promise.resolve(1) });
    assert.deepEqual(events.slice(0, 3), ["leave", "rehearsal", "cp"]);
  });

  it("is not made of what has another mount in it", async () => {
    const [told] = await bring({ cp: endless, mounted: true });
    assert.match(
      told ?? "",
      /in which .*old\/sub is another mount, which Stackwright does not copy/,
    );
  });

  it("is not made of what a container put in its place meanwhile", async () => {
    const [, , told] = await bring({ cp: endless, swaps: true });
    assert.match(told ?? "", /holds data of Stackwright itself/);
  });

  for (const link of ["before/releases/default/shop/live/data", "before/releases/default"]) {
    for (const when of ["before", "meanwhile"] as const) {
      it(`is not made of what a link leads to in another data directory: ${link}, ${when}`, async () => {
        const events = await bring({ cp: () => Promise.resolve(1), own: { link, when } });
        assert.ok(!events.includes("cp"), events.join());
        assert.match(
          events.at(-1) ?? "",
          /has its data .* in .*shop\/live\/data, to which a link leads, and a container may have made it/,
        );
      });
    }
  }

  it("is made of what is in another data directory without a link", async () => {
    const events = await bring({ cp: () => Promise.resolve(1), own: { link: "", when: "never" } });
    assert.deepEqual(events.slice(0, 3), ["leave", "rehearsal", "cp"]);
  });

  it("is noted as no half of one any more where it failed: nothing of it is there", async () => {
    const noted: unknown[] = [];
    await bring({
      cp: () => Promise.resolve(1),
      note: ({ copying }) => void noted.push(copying),
    });
    assert.deepEqual(noted, [["data"], []]);
  });

  it("is made while no engine that starts meanwhile starts again what wrote to it", async () => {
    const calls: string[] = [];
    const noted: AdoptionNotes[] = [];
    const note = (notes: AdoptionNotes) => void noted.push(notes);
    const cp = () => {
      calls.push("cp");
      return Promise.resolve(0);
    };
    await bring({ cp, note, calls });
    assert.deepEqual(calls.slice(0, 3), ["restart policy 1 no", "stop 1", "cp"]);
    assert.deepEqual(noted[0]?.halted, { 1: { Name: "always", MaximumRetryCount: 0 } });
  });

  it("leaves what wrote to it with the restart policy that it had where it fails", async () => {
    const calls: string[] = [];
    await bring({ cp: () => Promise.resolve(1), calls });
    assert.deepEqual(calls.slice(2), ["restart policy 1 always", "start 1"]);
  });

  it("ends when the room on the disk does", async () => {
    let free = 1e12;
    const [, , , told] = await bring({ cp: endless, free: () => free /= 2 });
    assert.match(told ?? "", /data in .*old could not be copied to .*: the disk .* no space left/);
  });

  it("ends after a day", async () => {
    const [, , , told] = await bring({ cp: endless });
    assert.match(told ?? "", /could not be copied to .*: it took more than a day$/);
  });

  it("tells the beginning of what cp says, and that there was more", async () => {
    const [, , , told] = await bring({
      cp: (command) => {
        for (let each = 0; each < 100; each++) command.onLine?.(`cp: cannot open file ${each}`);
        return Promise.resolve(1);
      },
    });
    assert.match(told ?? "", /cp ended with 1: cp: cannot open file 0\ncp: .*…$/s);
    assert.ok((told ?? "").length < 1000);
  });
});
