import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Compose, mergedLogins } from "../../../../src/deploy/mod.ts";
import { type Command, systemFiles } from "../../../../src/system/mod.ts";
import { createRecordingLog } from "../../../fakes/recording_log.ts";

const LOGINS = JSON.stringify({ auths: { "ghcr.io": { auth: "bmV3" } } });

describe("mergedLogins()", () => {
  it("comes before what is there, also before a helper that would be asked", () => {
    const configuration = JSON.stringify({
      auths: { "ghcr.io": { auth: "b2xk" }, "quay.io": { auth: "cXVheQ==" } },
      credHelpers: { "ghcr.io": "pass" },
      credsStore: "desktop",
    });
    assert.deepEqual(JSON.parse(mergedLogins(configuration, LOGINS)), {
      auths: { "ghcr.io": { auth: "bmV3" }, "quay.io": { auth: "cXVheQ==" } },
      credHelpers: { "ghcr.io": "" },
      credsStore: "desktop",
    });
  });

  for (const configuration of [undefined, "", "[]", "no JSON"]) {
    it(`does without a configuration: ${configuration}`, () =>
      assert.deepEqual(JSON.parse(mergedLogins(configuration, LOGINS)), {
        auths: { "ghcr.io": { auth: "bmV3" } },
        credHelpers: { "ghcr.io": "" },
      }));
  }
});

describe("Compose with further credentials", () => {
  it("finds them, and all else that the client is configured with, until it has ended", async () => {
    const root = await mkdtemp(join(tmpdir(), "swt-logins-"));
    try {
      const directory = join(root, "docker");
      await mkdir(join(directory, "contexts"), { recursive: true });
      await writeFile(join(directory, "contexts", "meta"), "its contexts");
      await writeFile(join(directory, "config.json"), `{"currentContext": "far"}`);
      const seen: string[] = [];
      const compose = new Compose({
        commands: {
          async run({ env }: Command) {
            const own = env?.["DOCKER_CONFIG"] ?? "";
            const { auths, currentContext } = JSON.parse(
              await readFile(join(own, "config.json"), "utf8"),
            );
            const context = await readFile(join(own, "contexts", "meta"), "utf8");
            const mode = ((await stat(join(own, "config.json"))).mode & 0o777).toString(8);
            seen.push(auths["ghcr.io"].auth, currentContext, context, mode);
            return { code: 0, stdout: new Uint8Array(), stderr: "" };
          },
          start: () => assert.fail("compose is never talked to while it runs"),
        },
        programEnvironment: { DOCKER_CONFIG: directory },
        log: createRecordingLog(),
        scratch: { files: systemFiles, prefix: join(root, "render-") },
        logins: { directory, logins: LOGINS },
      });
      const project = { name: "shop", directory: "/", files: [], envFiles: [], profiles: [] };
      const call = { project, variables: {}, model: { services: {} } };
      await compose.pull(call, ["web"], new AbortController().signal);
      assert.deepEqual(seen, ["bmV3", "far", "its contexts", "600"]);
      assert.deepEqual(await readdir(root), ["docker"]);
    } finally {
      await rm(root, { recursive: true });
    }
  });
});
