import assert from "node:assert/strict";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createSopsProgram } from "../../../../src/secrets/mod.ts";
import { messageOf } from "../../../../src/model/mod.ts";
import { systemCommands } from "../../../../src/system/mod.ts";

const never = new AbortController().signal;
const bytes = new TextEncoder().encode("encrypted\n");

/** Runs `work` with a directory on PATH in which `sops` is the shell script `body`. */
async function withProgram(
  body: string,
  env: Record<string, string>,
  work: (program: ReturnType<typeof createSopsProgram>) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "swt-sops-"));
  try {
    await writeFile(join(directory, "sops"), `#!/bin/sh\n${body}\n`);
    await chmod(join(directory, "sops"), 0o755);
    const PATH = `${directory}:/usr/bin:/bin`;
    const ageKey = "AGE-SECRET-KEY-1TEST";
    await work(createSopsProgram({ commands: systemCommands, env: { PATH, ...env }, ageKey }));
  } finally {
    await rm(directory, { recursive: true });
  }
}

describe("createSopsProgram()", () => {
  it("decrypt() gives the file on standard input as JSON, and takes the answer", async () => {
    await withProgram('echo "$@"; cat /dev/stdin', {}, async (program) => {
      const plain = await program.decrypt({ bytes, output: "json" }, never);
      assert.equal(
        new TextDecoder().decode(plain),
        "--decrypt --input-type json --output-type json /dev/stdin\nencrypted\n",
      );
    });
  });

  it("decrypt() lets the program know how to reach keys, and no setting of ours", async () => {
    const env = {
      API_SECRET: "canary",
      GIT_ACCESS_TOKEN: "canary",
      DOCKER_HOST: "canary",
      AWS_REGION: "r",
      VAULT_TOKEN: "t",
      SOPS_GPG_EXEC: "g",
      HTTPS_PROXY: "p",
    };
    await withProgram("cat >/dev/null; env | sort", env, async (program) => {
      const plain = new TextDecoder().decode(
        await program.decrypt({ bytes, output: "json" }, never),
      );
      assert.ok(!plain.includes("canary"), plain);
      for (
        const name of [
          "AWS_REGION=r",
          "VAULT_TOKEN=t",
          "SOPS_GPG_EXEC=g",
          "HTTPS_PROXY=p",
          "SOPS_AGE_KEY=AGE-SECRET-KEY-1TEST",
        ]
      ) {
        assert.ok(plain.includes(name), name);
      }
    });
  });

  it("decrypt() fails with what the program says", async () => {
    await withProgram("echo 'no key could decrypt' >&2; exit 128", {}, async (program) => {
      await assert.rejects(
        program.decrypt({ bytes, output: "json" }, never),
        /the sops program says: no key could decrypt/,
      );
    });
  });

  it("decrypt() says what no key fitted, without the program's last words, and the advice", async () => {
    const said = [
      "Failed to get the data key required to decrypt the SOPS file.",
      "",
      "Group 0: FAILED",
      "  age1abc: FAILED",
      "    - | failed to load age identities: failed to open file: open",
      "      | /root/.config/sops/age/keys.txt: no such file or directory",
      "",
      "Recovery failed because no master key was able to decrypt the file. In",
      "order for SOPS to recover the file, at least one key has to be successful,",
      "but none were.",
    ];
    await withProgram(`cat >&2 <<'END'\n${said.join("\n")}\nEND\nexit 128`, {}, async (program) => {
      const file = { bytes, output: "json", advice: "; set a key" } as const;
      const failed = await program.decrypt(file, never).catch(messageOf);
      assert.match(String(failed), /keys\.txt: no such file or directory; set a key$/);
    });
  });

  it("decrypt() lets the program take and print only so much", async () => {
    await withProgram("cat >/dev/null; exec yes", {}, async (program) => {
      await assert.rejects(
        program.decrypt({ bytes, output: "json" }, never),
        { code: "payload_too_large" },
      );
    });
    const bounds: unknown[] = [];
    const commands: Pick<typeof systemCommands, "run" | "start"> = {
      ...systemCommands,
      run({ mostMemory }) {
        bounds.push(mostMemory);
        return Promise.resolve({ code: 0, stdout: bytes, stderr: "" });
      },
    };
    const program = createSopsProgram({ commands, env: {}, ageKey: undefined });
    await program.decrypt({ bytes, output: "json" }, never);
    assert.deepEqual(bounds, [1024 ** 3]);
  });

  it("decrypt() gives nothing when there is no program", async () => {
    const parts = { commands: systemCommands, env: { PATH: "/nowhere" }, ageKey: undefined };
    assert.equal(
      await createSopsProgram(parts).decrypt({ bytes, output: "json" }, never),
      undefined,
    );
  });
});
