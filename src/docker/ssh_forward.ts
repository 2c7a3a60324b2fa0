import { type ChildProcess, spawn } from "node:child_process";
import * as fs from "node:fs/promises";
import net, { type Socket } from "node:net";
import { join } from "node:path";
import { clip, lastWithin } from "../model/mod.ts";
import { scratchPrefix } from "../system/mod.ts";
import type { EngineEnvironment, SshEndpoint } from "./endpoint.ts";

/** Seconds until SSH gives up connecting, and until it probes a silent machine. */
const CONNECT_SECONDS = 10;
const ALIVE_SECONDS = 15;
/** Characters told of SSH's messages, which stand behind what the machine says first; and those kept. */
const MOST_TROUBLE = 500;
const MOST_SAID = 64 * 1024;

/** Limit of connections at once, each a process; docker's own programs need some, too. */
const MOST_CONNECTIONS = 64;
/** Beginning of each answer of an engine. */
const HTTP = "HTTP/";
/** Options against anything but the command; a shared master process would outlive ours. */
const NOTHING_ELSE = [
  ...["ForwardAgent=no", "ForwardX11=no", "ClearAllForwardings=yes"],
  ...["PermitLocalCommand=no", "ControlMaster=no", "RemoteCommand=none"],
  // `ClearAllForwardings` does not cover these two.
  ...["Tunnel=no", "GSSAPIDelegateCredentials=no"],
];

/** Our variables that SSH needs; it gets no others. */
const INHERITED = ["PATH", "HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR"] as const;

/** The command that connects standard input and output to another machine's engine. */
export function sshCommand({ host, port, user, socketPath }: SshEndpoint): string[] {
  const option = (text: string) => ["-o", text];
  return [
    "ssh",
    // Nobody is there to answer questions.
    ...option("BatchMode=yes"),
    ...option(`ConnectTimeout=${CONNECT_SECONDS}`),
    ...option(`ServerAliveInterval=${ALIVE_SECONDS}`),
    // Overrides the user's configuration: the machine may belong to somebody else.
    ...NOTHING_ELSE.flatMap(option),
    "-T",
    ...(user === undefined ? [] : ["-l", user]),
    ...(port === undefined ? [] : ["-p", String(port)]),
    "--",
    host,
    "docker",
    ...(socketPath === undefined ? [] : ["--host", `unix://${socketPath}`]),
    "system",
    "dial-stdio",
  ];
}

/**
 * A local socket that leads to an engine on a machine reached by SSH, opened when it is used. Both our
 * client and compose use it, so that no program that a repository could influence runs with a key agent.
 */
export class SshForward {
  /** SSH's last message after a failed connection; empty otherwise. */
  trouble = "";
  readonly #endpoint: SshEndpoint;
  readonly #env: Record<string, string>;
  readonly #children = new Set<ChildProcess>();
  #opened: Promise<{ readonly server: net.Server; readonly directory: string }> | undefined;

  constructor(endpoint: SshEndpoint, env: EngineEnvironment) {
    this.#endpoint = endpoint;
    const own = INHERITED.map((name) => [name, env[name]] as const);
    this.#env = Object.fromEntries(
      own.filter((each): each is [typeof each[0], string] => each[1] !== undefined),
    );
  }

  /** Opens the socket when first called; returns its path. */
  async open(): Promise<string> {
    this.#opened ??= this.#listen().catch((error) => {
      this.#opened = undefined;
      throw error;
    });
    return socketIn((await this.#opened).directory);
  }

  /** Ends all connections and removes the socket. May be called twice. */
  close(): void {
    for (const child of this.#children) child.kill("SIGTERM");
    const opened = this.#opened;
    this.#opened = undefined;
    void opened?.then(async ({ server, directory }) => {
      server.close();
      await fs.rm(directory, { recursive: true, force: true });
    }).catch(() => {});
  }

  async #listen() {
    const directory = await fs.mkdtemp(scratchPrefix("ssh"));
    const server = net.createServer({ allowHalfOpen: true }, (socket) => this.#connect(socket));
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(socketIn(directory), resolve);
    });
    return { server, directory };
  }

  #connect(socket: Socket): void {
    socket.on("error", () => {});
    if (this.#children.size >= MOST_CONNECTIONS) {
      this.trouble = `there are ${MOST_CONNECTIONS} connections already`;
      return void socket.destroy();
    }
    const [program = "", ...args] = sshCommand(this.#endpoint);
    const child = spawn(program, args, { env: this.#env, stdio: ["pipe", "pipe", "pipe"] });
    this.#children.add(child);
    let said = "";
    let answered = false;
    this.trouble = "";
    const end = (problem: string) => {
      this.#children.delete(child);
      if (!answered && this.trouble === "") this.trouble = problem;
      // Sends what was answered before the end.
      if (answered) socket.end(() => socket.destroy());
      else socket.destroy();
    };
    child.on("error", (error) => end(error.message));
    child.stderr.on("data", (bytes) => said = clip(said + String(bytes), MOST_SAID));
    child.stdout.once("data", (bytes) => {
      const begin = clip(String(bytes), MOST_TROUBLE);
      answered = begin.slice(0, HTTP.length) === HTTP.slice(0, begin.length);
      this.trouble = answered
        ? ""
        : `what answers there is no engine, or a shell that prints first: ${begin.trim()}`;
      if (!answered) child.kill("SIGKILL");
    });
    // "close" comes after the end of the streams, when all messages have arrived.
    child.on(
      "close",
      (code) => end(lastWithin(said.trim(), MOST_TROUBLE) || `ssh ended with ${code}`),
    );
    child.stdin.on("error", () => {});
    socket.pipe(child.stdin);
    child.stdout.pipe(socket, { end: false });
    socket.on("close", () => child.kill("SIGTERM"));
  }
}

function socketIn(directory: string): string {
  return join(directory, "engine.sock");
}
