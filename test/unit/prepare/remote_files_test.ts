import assert from "node:assert/strict";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { filesVolumes, type TreeUse } from "../../../src/compose/mod.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { arrivingModel, requireFilesArrive } from "../../../src/prepare/remote_files.ts";
import { systemFiles } from "../../../src/system/mod.ts";
import { createMemoryEngine } from "../../fakes/memory_engine.ts";

const use = (kind: TreeUse["kind"], item: string, path: string): TreeUse => ({
  service: "web",
  kind,
  item,
  path,
  writable: false,
  required: false,
});
const SHOP = { name: "shop", context: "nas" };

describe("requireFilesArrive()", () => {
  const refused = [
    ["a mount", false, [use("bind", "/site", "site")], /\/site of service web is site of the/],
    ["a mount of a stack", true, [use("bind", "/site", "site")], /\/site of service web is site/],
    [
      "a config",
      false,
      [use("config", "app", "a.conf")],
      /the config app of service web is a\.conf/,
    ],
    ["a secret", false, [use("secret", "key", "k")], /the secret key of service web is k of/],
    [
      "all of them",
      false,
      [use("secret", "key", "k"), use("build", "", "."), use("bind", "/site", "site")],
      /\/site of service web .*; the secret key of service web/,
    ],
  ] as const;
  for (const [what, isStack, uses, message] of refused) {
    it(`refuses ${what}, and says what works`, () => {
      assert.throws(() => requireFilesArrive(SHOP, uses, { isStack }), (error) => {
        assert.ok(isStackwrightError(error, "config_invalid"), String(error));
        assert.match(
          error.message,
          /^deployment shop: the engine of the context nas is on another/,
        );
        assert.match(error.message, message);
        assert.match(error.message, /content or environment, .*Nothing was changed$/);
        return true;
      });
    });
  }

  it("lets through what is sent to the engine", () => {
    requireFilesArrive(SHOP, [use("build", "", ".")], { isStack: false });
    const sent = [use("config", "app", "a.conf"), use("secret", "key", "k"), use("build", "", ".")];
    requireFilesArrive(SHOP, sent, { isStack: true });
  });
});

describe("arrivingModel()", () => {
  let tree = "";
  before(async () => {
    tree = await fs.mkdtemp(join(tmpdir(), "swt-arriving-"));
    await fs.mkdir(join(tree, "site"));
    await fs.writeFile(join(tree, "a.conf"), "a=1");
    await fs.mkdir(join(tree, "films/new"), { recursive: true });
    // It takes no room.
    await fs.writeFile(join(tree, "films/new/large.mkv"), "");
    await fs.truncate(join(tree, "films/new/large.mkv"), (64 << 20) + 1);
    await fs.symlink("large.mkv", join(tree, "films/new/link.mkv"));
  });
  after(async () => await fs.rm(tree, { recursive: true }));

  const modelOf = (...volumes: readonly object[]) => ({
    name: "shop",
    services: { web: { volumes } },
  });
  const bind = (path: string, target: string) => ({
    type: "bind",
    source: join(tree, path),
    target,
    read_only: true,
  });
  const arriving = async (
    model: ReturnType<typeof modelOf>,
    uses: readonly TreeUse[],
    { copiesFiles = true, isStack = false, api = "1.45", inPlace = new Set<TreeUse>() } = {},
  ) => {
    const engine = { ...createMemoryEngine(), apiVersion: () => Promise.resolve(api) };
    // Only these of a host are asked.
    const host = { engine, copiesFiles } as unknown as Parameters<typeof arrivingModel>[0]["host"];
    const digest = (text: string) => text.replaceAll(" ", "-");
    const key = { digest, shown: () => "" };
    const contentOf = (path: string) => path === "gone" ? "absent" : `blob:${path}`;
    const files = { model, tree, uses, inPlace: { uses: inPlace }, isStack, contentOf };
    const { signal } = new AbortController();
    return await arrivingModel({ host, files: systemFiles, key }, SHOP, files, signal);
  };
  const site = use("bind", "/site", "site");
  const conf = use("bind", "/conf", "a.conf");

  it("names copies after their content, and whether they are a directory", async () => {
    const model = modelOf(bind("site", "/site"), bind("a.conf", "/conf"));
    assert.deepEqual(filesVolumes(await arriving(model, [site, conf])), [
      { name: "shop_files_copy-false-blob:a.conf", path: "a.conf" },
      { name: "shop_files_copy-true-blob:site", path: "site" },
    ]);
  });

  it("copies directories alone where an engine mounts no part of a volume", async () => {
    const old = { api: "1.44" };
    const model = modelOf(bind("site", "/site"), bind("a.conf", "/conf"));
    assert.equal(
      filesVolumes(await arriving(modelOf(bind("site", "/site")), [site], old)).length,
      1,
    );
    await assert.rejects(arriving(model, [site, conf], old), /a\.conf .*from Engine 26\.0 on/);
  });

  const written = { ...site, writable: true };
  const gone = use("bind", "/gone", "gone");
  const refused = [
    [
      "what is written to",
      [written],
      {},
      /site of the repository \(only what is mounted read-only/,
    ],
    ["what is not there", [gone], {}, /gone of the repository \(there is nothing there/],
    ["what changes in place", [site], { inPlace: new Set([site]) }, /recreate\.ignore has to go/],
    ["the file behind a named volume", [use("bind", "/d", "site")], {}, /named volume that stands/],
    [
      "what has a file that is too large",
      [use("config", "films", "films")],
      {},
      /films of the repository \(large\.mkv has more than 64 MiB/,
    ],
    ["what a stack mounts", [site], { isStack: true }, /not in a swarm/],
    ["everything without the setting", [site], { copiesFiles: false }, /REMOTE_FILES=volume/],
  ] as const;
  for (const [what, uses, options, message] of refused) {
    it(`refuses ${what}, and says why`, async () => {
      await assert.rejects(arriving(modelOf(bind("site", "/site")), uses, options), (error) => {
        assert.ok(isStackwrightError(error, "config_invalid"), String(error));
        assert.match(error.message, message);
        return true;
      });
    });
  }
});
