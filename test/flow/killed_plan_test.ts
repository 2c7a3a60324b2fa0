import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { DENO_PROGRAM, ServiceProcess } from "../e2e/service_process.ts";
import { Canaries } from "../fakes/canaries.ts";
import { createAgeKeys, encryptBinary } from "../fakes/sops_encryptor.ts";
import { filesBelow } from "./canary_house.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, inWorld } from "./steps.ts";

describe("stackwright plan that was killed", () => {
  it("leaves decrypted files to its owner alone, and the next start removes them", async () => {
    const keys = await createAgeKeys();
    const canaries = new Canaries();
    const directory = await mkdtemp(join(tmpdir(), "swt-killed-plan-"));
    const [scratch, programs] = [join(directory, "scratch"), join(directory, "programs")];
    await mkdir(scratch);
    const compose = join(programs, "cli-plugins/docker-compose");
    await mkdir(join(programs, "cli-plugins"), { recursive: true });
    // A compose that never comes back, when everything it would read lies there.
    await writeFile(compose, `#!/bin/sh\n: >'${programs}/called'\nexec /bin/sleep 1000\n`);
    await chmod(compose, 0o755);
    const holding = async () => {
      const found: string[] = [];
      for (const path of await filesBelow(scratch)) {
        if (canaries.find(await readFile(path)).length > 0) found.push(path);
      }
      return found;
    };
    try {
      await inWorld("fake", async (world) => {
        await commit(world, {
          "compose.yaml": composeFile({ web: service({ env_file: ["sops.env"] }) }),
          "sops.env": await encryptBinary(`A=${canaries.make("env_file", "word")}\n`, {
            recipients: [keys.recipient],
          }),
        });
        const env = { ...world.env, SOPS_AGE_KEY: keys.identity, TMPDIR: scratch };
        const place = ["plan", "--ref", "main", world.repository.url];
        const hanging = { ...env, DOCKER_CONFIG: programs };
        const plan = new ServiceProcess(DENO_PROGRAM, place, hanging);
        await plan.until(() => stat(join(programs, "called")).then(() => true, () => false));
        plan.kill("SIGKILL");
        assert.equal((await plan.ended).signal, "SIGKILL");
        assert.equal((await holding()).length, 1, "this test has nothing to show otherwise");
        for (const name of await readdir(scratch)) {
          assert.equal((await stat(join(scratch, name))).mode & 0o777, 0o700, name);
        }

        const again = await new ServiceProcess(DENO_PROGRAM, place, env).ended;
        assert.equal(again.code, 2, again.stderr);
        assert.deepEqual(await holding(), []);
        assert.deepEqual(await readdir(scratch), []);
      });
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
