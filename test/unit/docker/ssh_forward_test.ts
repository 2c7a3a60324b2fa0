import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, it } from "node:test";
import { createEngine } from "../../../src/docker/client.ts";
import { parseEndpoint, type SshEndpoint } from "../../../src/docker/endpoint.ts";
import { sshCommand } from "../../../src/docker/ssh_forward.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";

const NO_SIGNAL = new AbortController().signal;

describe("sshCommand()", () => {
  const cases = [
    ["ssh://two", "-- two docker system dial-stdio"],
    ["ssh://me@two:2222", "-l me -p 2222 -- two docker system dial-stdio"],
    ["ssh://two:80/run/x.sock", "-p 80 -- two docker --host unix:///run/x.sock system dial-stdio"],
    ["ssh://me@[::1]", "-l me -- ::1 docker system dial-stdio"],
  ] as const;
  for (const [address, expected] of cases) {
    it(`connects to ${address}`, () => {
      const command = sshCommand(parseEndpoint(address) as SshEndpoint).join(" ");
      assert.ok(command.startsWith("ssh -o BatchMode=yes "), command);
      assert.match(command, / -o ForwardAgent=no .* -o ClearAllForwardings=yes /);
      assert.ok(command.endsWith(` -T ${expected}`), command);
    });
  }
});

describe("the user's own configuration", () => {
  it("forwards nothing, runs nothing else and hands out no credentials, whatever it says", async () => {
    const wants = ["ForwardAgent yes", "Tunnel yes", "GSSAPIDelegateCredentials yes"];
    const more = ["RemoteCommand id", "PermitLocalCommand yes", "ControlMaster auto"];
    const directory = await fs.mkdtemp(join(tmpdir(), "swt-ssh-"));
    const file = join(directory, "config");
    await fs.writeFile(file, [...wants, ...more].map((each) => `${each}\n`).join(""));
    const [program = "", ...args] = sshCommand(parseEndpoint("ssh://two") as SshEndpoint);
    const told = execFileSync(
      program,
      ["-F", file, "-G", ...args.slice(0, args.indexOf("--") + 2)],
      {
        encoding: "utf8",
      },
    );
    await fs.rm(directory, { recursive: true });
    for (const line of ["forwardagent no", "tunnel false", "gssapidelegatecredentials no"]) {
      assert.ok(told.includes(`${line}\n`), told);
    }
    assert.ok(!told.includes("remotecommand id"), told);
  });
});

describe("an address by SSH", () => {
  it("has no path that a shell would read", () => {
    for (const path of ["/x;id", "/$(id)", "/a&b"]) {
      assert.throws(() => parseEndpoint(`ssh://two${path}`), /cannot be used/);
    }
  });
});

describe("an engine by SSH", () => {
  let directory: string;
  let server: http.Server;
  beforeEach(async () => {
    directory = await fs.mkdtemp(join(tmpdir(), "swt-ssh-"));
    server = http.createServer((request, response) => {
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify(
        request.url?.endsWith("/version") === true
          ? { Version: "26.1", ApiVersion: "1.45", MinAPIVersion: "1.24" }
          : { ID: "there", Name: "two", Swarm: {} },
      ));
    });
    await new Promise<void>((resolve) => server.listen(join(directory, "engine.sock"), resolve));
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await fs.rm(directory, { recursive: true });
  });

  /** A program in the place of ssh. */
  async function engineBy(script: string) {
    await fs.writeFile(join(directory, "ssh"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const env = { PATH: `${directory}:${process.env["PATH"]}`, HOME: directory, API_SECRET: "s" };
    return createEngine({ host: "ssh://me@two", env });
  }
  const bridge = () => {
    const path = JSON.stringify(join(directory, "engine.sock"));
    const program = join(directory, "bridge.mjs");
    const text = `import net from "node:net"; const to = net.connect(${path});
process.stdin.pipe(to); to.pipe(process.stdout); to.on("close", () => process.exit());\n`;
    const run = process.versions["bun"] === undefined ? "run -A --no-config" : "run";
    return fs.writeFile(program, `import process from "node:process";\n${text}`)
      .then(() => `env > ${directory}/env; exec ${process.execPath} ${run} ${program}`);
  };

  it("says what a machine prints that has no engine, or prints before it", async () => {
    const engine = await engineBy("echo Welcome to two; exec sleep 5");
    try {
      await assert.rejects(
        engine.info(NO_SIGNAL),
        (error) =>
          isStackwrightError(error, "engine_unreachable") &&
          /no engine, or a shell that prints first: Welcome to two/.test(error.message),
      );
    } finally {
      engine.close();
    }
  });

  it("answers through what the program connects, which gets none of our secrets", async () => {
    const engine = await engineBy(await bridge());
    try {
      assert.equal((await engine.info(NO_SIGNAL)).id, "there");
      const { DOCKER_HOST = "", DOCKER_TLS_VERIFY } = await engine.programVariables();
      assert.match(DOCKER_HOST, /^unix:\/\/.*stackwright-ssh-/);
      assert.equal(DOCKER_TLS_VERIFY, undefined);
      const given = await fs.readFile(join(directory, "env"), "utf8");
      assert.ok(!given.includes("API_SECRET"), given);
    } finally {
      engine.close();
    }
  });

  it("says what the program said where it does not connect", async () => {
    const engine = await engineBy("echo 'Permission denied (publickey).' >&2; exit 255");
    try {
      await assert.rejects(
        engine.info(NO_SIGNAL),
        (error) =>
          isStackwrightError(error, "engine_unreachable") &&
          /ssh:\/\/me@two.*\(ssh: Permission denied \(publickey\)\.\)/.test(error.message),
      );
    } finally {
      engine.close();
    }
  });

  it("takes its socket away when it is closed", async () => {
    const engine = await engineBy("exit 1");
    const { DOCKER_HOST = "" } = await engine.programVariables();
    const place = join(DOCKER_HOST.slice("unix://".length), "..");
    assert.ok((await fs.stat(place)).isDirectory());
    engine.close();
    const gone = async () => await fs.stat(place).then(() => false, () => true);
    while (!await gone()) await new Promise((resolve) => setTimeout(resolve, 5));
  });
});
