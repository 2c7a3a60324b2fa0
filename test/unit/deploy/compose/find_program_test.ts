import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { findComposeProgram, hasBuildx } from "../../../../src/deploy/mod.ts";
import { type Files, systemFiles } from "../../../../src/system/mod.ts";

describe("findComposeProgram()", () => {
  let root = "";
  before(() => void (root = mkdtempSync(join(tmpdir(), "swt-plugins-"))));
  after(() => rmSync(root, { recursive: true }));
  /** The real file system, but what lies below `/usr` is what the test put below `usr`. */
  const files = (): Files => ({
    ...systemFiles,
    realPath: (path) => systemFiles.realPath(path.replace(/^\/usr/, join(root, "usr"))),
  });
  const plugin = (directory: string, mode = 0o755) => {
    mkdirSync(join(root, directory), { recursive: true });
    writeFileSync(join(root, directory, "docker-compose"), "", { mode });
    return join(root, directory, "docker-compose");
  };
  const find = (env: Record<string, string> = {}) =>
    findComposeProgram(files(), { HOME: join(root, "home"), ...env });

  it("is docker where there is no plugin", async () => {
    assert.equal(await find(), "docker");
  });

  it("finds buildx at the same places", async () => {
    const env = { HOME: join(root, "builder") };
    assert.equal(await hasBuildx(files(), env), false);
    const place = join(root, "builder/.docker/cli-plugins");
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "docker-buildx"), "", { mode: 0o755 });
    assert.equal(await hasBuildx(files(), env), true);
  });

  it("is the first plugin in docker's own order: extra directories, the person's, the system's", async () => {
    const last = plugin("usr/libexec/docker/cli-plugins");
    assert.equal(await find(), last);
    const local = plugin("usr/local/lib/docker/cli-plugins");
    assert.equal(await find(), local);
    const own = plugin("home/.docker/cli-plugins");
    assert.equal(await find(), own);
    const other = plugin("config/cli-plugins");
    assert.equal(await find({ DOCKER_CONFIG: join(root, "config") }), other);
    const extra = plugin("extra");
    writeFileSync(
      join(root, "config/config.json"),
      JSON.stringify({
        cliPluginsExtraDirs: [3, "relative", join(root, "none"), join(root, "extra")],
      }),
    );
    assert.equal(await find({ DOCKER_CONFIG: join(root, "config") }), extra);
  });

  it("passes over what cannot be run: directories, dangling links, files without permission", async () => {
    const home = join(root, "second");
    mkdirSync(join(home, ".docker/cli-plugins"), { recursive: true });
    const place = join(home, ".docker/cli-plugins/docker-compose");
    const expected = join(root, "usr/local/lib/docker/cli-plugins/docker-compose");
    mkdirSync(place);
    assert.equal(await find({ HOME: home }), expected);
    rmSync(place, { recursive: true });
    symlinkSync("/nowhere/at/all", place);
    assert.equal(await find({ HOME: home }), expected);
    rmSync(place);
    writeFileSync(place, "", { mode: 0o644 });
    assert.equal(await find({ HOME: home }), expected);
    rmSync(place);
    symlinkSync(plugin("elsewhere"), place);
    assert.equal(await find({ HOME: home }), join(root, "elsewhere/docker-compose"));
  });

  it("passes over a directory that this user may not enter, as HOME of another one", async () => {
    const closed = join(root, "closed");
    const refused = Object.assign(new Error("EACCES: permission denied, realpath"), {
      code: "EACCES",
    });
    const ofUser: Files = {
      ...files(),
      realPath: (path) =>
        path.startsWith(closed) ? Promise.reject(refused) : files().realPath(path),
    };
    const expected = join(root, "usr/local/lib/docker/cli-plugins/docker-compose");
    assert.equal(await findComposeProgram(ofUser, { HOME: closed }), expected);
  });

  it("does not mind a configuration that is no JSON, or null", async () => {
    for (const text of ["{", "null", "[]", `{"cliPluginsExtraDirs": 3}`]) {
      mkdirSync(join(root, "third"), { recursive: true });
      writeFileSync(join(root, "third/config.json"), text);
      const found = await find({ DOCKER_CONFIG: join(root, "third") });
      assert.equal(found, join(root, "usr/local/lib/docker/cli-plugins/docker-compose"));
    }
  });
});
