import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { BUSYBOX_IMAGE, ensureBusyboxImage } from "../fakes/busybox_image.ts";
import { findRealEngine } from "../fakes/real_engine.ts";
import { executables, ROOT } from "./service_process.ts";

const engine = await findRealEngine();
const missing = engine.unavailable ?? (executables().length === 0 ? "no executable" : undefined);

/** What a newcomer types is run as it stands; only what another run could hold is replaced. */
describe("README's first deployment, typed as it stands", { skip: missing }, () => {
  let machine: Machine;
  before(async () => {
    machine = await createMachine();
  });
  after(() => machine.clear());

  it("deploys what the first terminal names, and a second commit, and goes back", async () => {
    await machine.serve(await machine.block("first terminal"), /"msg":"run succeeded"/);
    const { stack } = machine;
    const blocks = [await machine.block("second terminal")];
    blocks.push(await machine.block("second terminal, later"));
    const { failed, output } = await machine.type(blocks.join(""));
    // A plan that shows changes ends with 2.
    assert.deepEqual(failed, [`2: stackwright plan ${machine.repository}`], output);
    const expected = [
      `^synced +${stack} +1 +[0-9a-f]{12} .* healthy 1/1 `,
      `^\\{"content":"no changes",`,
      `"name":"${stack}".*"state":"synced"`,
      `^\\+ .*greeting: "?hello"?$`,
      `^default/${stack}: succeeded`,
      `^synced +${stack} +2 `,
      `^\\* +2 .*\\n +1 `,
      `^${stack} is back at release 1`,
    ];
    for (const each of expected) assert.match(output, new RegExp(each, "m"));
  });

  it("ends with Ctrl-C", async () => {
    assert.match(await machine.interrupt(), /"msg":"stopped"/);
  });
});

/** A machine of a newcomer: a directory with the executable, and terminals in it. */
interface Machine {
  readonly stack: string;
  readonly repository: string;
  /** The commands of a block of README.md, with names and addresses of this machine's own. */
  block(name: string): Promise<string>;
  /** Types a block whose last command serves; returns when its output matches. */
  serve(script: string, until: RegExp): Promise<void>;
  /** Types commands into the other terminal; those that ended with another code than 0. */
  type(script: string): Promise<{ readonly failed: readonly string[]; readonly output: string }>;
  /** Presses Ctrl-C in the terminal that serves; what was shown there. */
  interrupt(): Promise<string>;
  clear(): Promise<void>;
}

async function createMachine(): Promise<Machine> {
  await ensureBusyboxImage();
  const directory = await mkdtemp(join(tmpdir(), "swt-readme-"));
  const stack = `swt-readme-${directory.slice(-6).toLowerCase().replaceAll(/[^a-z0-9]/g, "x")}`;
  // An address of the loopback network that is nobody else's, and ports that are neither usual nor
  // given to clients: whoever listens on all addresses of the machine does so on others.
  const address = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(2, 255)}`;
  const port = randomInt(20_000, 30_000);
  const ports = { HTTP_PORT: String(port), METRICS_PORT: String(port + 1) };
  await symlink(join(ROOT, "dist"), join(directory, "dist"));
  await mkdir(join(directory, "scripts"));
  // Set-up and build have been; what they were for is there.
  for (const name of ["setup", "build"]) {
    const script = join(directory, "scripts", name);
    await writeFile(script, "#!/bin/sh\nexec test -x dist/stackwright\n", { mode: 0o755 });
  }
  let serving: Terminal | undefined;
  const terminals: Terminal[] = [];
  const open = (script: string) => {
    const terminal = openTerminal(directory, script, ports);
    terminals.push(terminal);
    return terminal;
  };
  const repository = join(directory, stack);
  return {
    stack,
    repository,
    async block(name) {
      const text = await readFile(join(ROOT, "README.md"), "utf8");
      const found = new RegExp(`<!-- ${name} -->\\n\\n\`\`\`sh\\n([^]*?)\`\`\``).exec(text)?.[1];
      assert.ok(found !== undefined, `README.md has no block for the ${name}`);
      return found
        // Nothing serves in this image, and `sleep` would wait for the end of its grace period.
        .replaceAll("nginx:alpine", `${BUSYBOX_IMAGE}\n    stop_signal: SIGKILL`)
        .replaceAll("/tmp/shop", repository)
        .replaceAll(/\bshop\b/g, stack)
        .replaceAll("127.0.0.1:8080", `${address}:${port}`)
        .replaceAll("127.0.0.1:8088", `${address}:${port + 2}`)
        .replaceAll("127.0.0.1", address)
        .replaceAll("interval: 60", "interval: 86400");
    },
    async serve(script, until) {
      serving = open(script);
      await serving.shows(until);
    },
    async type(script) {
      const lines = script.replaceAll(/ \\\n\s*/g, " ").trimEnd().split("\n");
      const typed = lines.map((line, n) => `${line}\ncode=$?; echo; echo "line ${n}: $code"\n`);
      const terminal = open(typed.join(""));
      await terminal.ended;
      const output = terminal.output();
      const codes = [...output.matchAll(/^line (\d+): (\d+)$/gm)];
      assert.equal(codes.length, lines.length, output);
      const failed = codes.filter(([, , code]) => code !== "0");
      const command = (n: string | undefined) => lines[Number(n)]?.replace(/ +#.*/, "");
      return { failed: failed.map(([, n, code]) => `${code}: ${command(n)}`), output };
    },
    async interrupt() {
      serving?.signal("SIGINT");
      await serving?.ended;
      return serving?.output() ?? "";
    },
    async clear() {
      for (const terminal of terminals) {
        terminal.signal("SIGKILL");
        await terminal.ended;
      }
      await open(`docker compose -p ${stack} down --volumes --timeout 0`).ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

interface Terminal {
  readonly ended: Promise<void>;
  output(): string;
  shows(text: RegExp): Promise<void>;
  /** Sends a signal to all that runs in it. */
  signal(name: "SIGINT" | "SIGKILL"): void;
}

function openTerminal(
  cwd: string,
  script: string,
  settings: Readonly<Record<string, string>>,
): Terminal {
  const child: ChildProcess = spawn("sh", ["-c", script], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "/root", ...settings },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  const heard = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Uint8Array) => {
      output += new TextDecoder().decode(chunk);
      for (const each of heard) each();
    });
  }
  let over = false;
  const ended = new Promise<void>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => {
      over = true;
      resolve();
    });
  });
  return {
    ended,
    output: () => output,
    async shows(text) {
      const seen = new Promise<void>((resolve) => heard.add(() => text.test(output) && resolve()));
      await Promise.race([seen, ended]);
      assert.match(output, text);
    },
    signal(name) {
      if (!over && child.pid !== undefined) process.kill(-child.pid, name);
    },
  };
}
