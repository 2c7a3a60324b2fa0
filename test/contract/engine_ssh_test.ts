import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { createEngine, type EngineClient } from "../../src/docker/mod.ts";
import { createFakeEngine, type FakeEngine } from "../fakes/fake_engine.ts";
import { sshMissing, type SshServer, startSshServer } from "../fakes/ssh_server.ts";

const NO_SIGNAL = new AbortController().signal;

/** A real SSH server, and the real `docker system dial-stdio` behind it. */
describe("an engine by a real SSH server", { skip: sshMissing() }, () => {
  let directory: string;
  let server: SshServer;
  let fake: FakeEngine;
  let engine: EngineClient;
  before(async () => {
    directory = await fs.mkdtemp(join(tmpdir(), "swt-ssh-"));
    fake = await createFakeEngine({ socketPath: join(directory, "there.sock") });
    server = await startSshServer();
    await fs.writeFile(join(directory, "key"), server.key, { mode: 0o600 });
    await fs.writeFile(join(directory, "known"), server.knownHost);
    // What a person has in the home directory: a key, and hosts that are known.
    const own = `-F none -i ${directory}/key -o UserKnownHostsFile=${directory}/known`;
    const script = `#!/bin/sh\nexec /usr/bin/ssh ${own} "$@"\n`;
    await fs.writeFile(join(directory, "ssh"), script, { mode: 0o755 });
    engine = createEngine({
      host: `ssh://${server.user}@127.0.0.1:${server.port}${fake.socketPath}`,
      env: { PATH: `${directory}:${process.env["PATH"]}`, HOME: directory },
    });
  });
  after(async () => {
    engine.close();
    await server.close();
    await fake.close();
    await fs.rm(directory, { recursive: true });
  });

  it("answers calls, changes and events", async () => {
    assert.equal((await engine.info(NO_SIGNAL)).swarm, "inactive");
    const stop = new AbortController();
    const events = engine.containerEvents({ labels: {} }, stop.signal);
    const first = events[Symbol.asyncIterator]().next();
    await engine.makeVolume(
      { Name: "by-ssh", Driver: "local", DriverOpts: {}, Labels: {} },
      NO_SIGNAL,
    );
    const volumes = await engine.findVolumes(["by-ssh"], NO_SIGNAL);
    assert.deepEqual(volumes.map(({ name }) => name), ["by-ssh"]);
    stop.abort(new Error("enough"));
    await assert.rejects(first, /enough/);
  });

  it("is what the engine's own programs reach, too", async () => {
    const env = { ...process.env, ...await engine.programVariables() };
    const { stdout } = await promisify(execFile)("docker", ["volume", "ls", "-q"], { env });
    assert.equal(stdout.trim(), "by-ssh");
  });
});
