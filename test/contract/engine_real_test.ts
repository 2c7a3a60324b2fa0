import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createEngine } from "../../src/docker/mod.ts";
import { BUSYBOX_IMAGE, ensureBusyboxImage } from "../fakes/busybox_image.ts";
import { findRealEngine } from "../fakes/real_engine.ts";
import { engineSuite, type Script } from "./engine_suite.ts";

const real = await findRealEngine();
const CHECK_INTERVAL_NS = 100_000_000;

if (real.unavailable !== undefined) {
  describe("Engine contract: real engine", () => {
    it(real.unavailable, { skip: true }, () => {});
  });
} else {
  engineSuite("real engine", async () => {
    await ensureBusyboxImage();
    const engine = createEngine({ host: `unix://${real.socketPath}` });
    return {
      engine,
      image: BUSYBOX_IMAGE,
      prepare: (_name, script) => ({ ...command(script), ...healthcheck(script) }),
      started: () => {},
      close: () => Promise.resolve(engine.close()),
    };
  });

  describe("fileHas() of a real engine", () => {
    it("reads files of a running container's layer and volumes, and none that are not there", async () => {
      await ensureBusyboxImage();
      const engine = createEngine({ host: `unix://${real.socketPath}` });
      const { signal } = new AbortController();
      const write = (path: string) => `mkdir -p ${path}; echo "it is $0" >${path}/file`;
      const json = {
        Image: BUSYBOX_IMAGE,
        Cmd: ["sh", "-c", `${write("/a")}; ${write("/v/a")}; ${write("/t/a")}; sleep 1000`, "here"],
        HostConfig: { NetworkMode: "none", Init: true, Tmpfs: { "/t": "" } },
        Volumes: { "/v": {} },
      };
      const create = { method: "POST", path: "/containers/create", json } as const;
      const { Id: id } = await engine.api.json(create, signal) as { Id: string };
      const has = (path: string, text: string) => engine.fileHas(id, { path, text }, signal);
      try {
        await engine.startContainer(id, signal);
        while (!await has("/a/file", "it is here")) await new Promise((go) => setTimeout(go, 50));
        while (!await has("/v/a/file", "it is here")) await new Promise((go) => setTimeout(go, 50));
        assert.equal(await has("/a/file", "it is there"), false);
        for (const none of ["/a/none", "/t/a/file", "/none/a/file"]) {
          assert.equal(await has(none, "it is here"), false);
        }
        assert.equal(await has("/bin", "it is here"), false);
        assert.equal(
          await engine.fileHas("0".repeat(64), { path: "/a", text: "a" }, signal),
          false,
        );
      } finally {
        await engine.removeContainer(id, { force: true, volumes: true }, signal);
        engine.close();
      }
    });
  });
}

if (real.unavailable === undefined) {
  const host = `unix://${real.socketPath}`;
  describe("Engine contract: logs whose beginning is not there, of the real engine", () => {
    const never = new AbortController().signal;
    const secret = "Wq7Zk2Lm9Xc4Vb8Nn3Hd6Js1Pf5Rt0Yg";
    const [beginning, rest] = [secret.slice(0, 5), secret.slice(5)];
    /** `a`s up to so many characters before the place where the engine cuts a line. */
    const almost = (left: number) => `head -c ${16384 - left} /dev/zero | tr '\\0' a`;

    /** The last 20 lines that a script printed, with `*` for the `a`s in front. */
    async function printed(script: string, options: Readonly<Record<string, string>> = {}) {
      await ensureBusyboxImage();
      const engine = createEngine({ host });
      const name = `stackwright-logs-${crypto.randomUUID().slice(0, 8)}`;
      const json = {
        Image: BUSYBOX_IMAGE,
        Cmd: ["sh", "-c", script],
        HostConfig: { LogConfig: { Type: "json-file", Config: options } },
      };
      const path = "/containers/create";
      await engine.api.json({ method: "POST", path, query: { name }, json }, never);
      try {
        await engine.startContainer(name, never);
        await engine.waitContainer(name, never);
        return (await engine.containerLogs(name, 20, never)).map((each) =>
          each.replace(/^a+/, "*")
        );
      } finally {
        await engine.removeContainer(name, { force: true, volumes: true }, never);
        engine.close();
      }
    }

    it("shows no line that was rotated away in part, and every line of a whole log", async () => {
      const script = `${almost(5)}; echo "${secret} goes on"; echo "the end"`;
      const once = { "max-size": "10k", "max-file": "1" };
      assert.deepEqual(await printed(script, once), ["…", "the end"]);
      const whole = [`*${secret} goes on`, "the end"];
      assert.deepEqual(await printed(script), whole);
      assert.deepEqual(await printed(script, { "max-size": "1m", "max-file": "2" }), whole);
    });

    it("shows no line of standard error that began before the others, and one that began later", async () => {
      const long = `{ ${almost(5)}; printf ${beginning}; } >&2; sleep 1`;
      const others = "for i in $(seq 60); do echo line $i; done; sleep 1";
      const cut = await printed(`${long}; ${others}; echo "${rest} goes on" >&2`);
      assert.deepEqual(cut.slice(-2), ["line 60", "…"]);
      const later = await printed(`${others}; echo "out of ink" >&2`);
      assert.deepEqual(later.slice(-2), ["line 60", "out of ink"]);
    });
  });
}

function command(script: Script): Record<string, unknown> {
  if (script.exit === undefined) return { Cmd: ["sleep", "1000"] };
  return { Cmd: ["sh", "-c", `echo out; echo err >&2; exit ${script.exit}`] };
}

function healthcheck(script: Script): Record<string, unknown> {
  if (script.health === undefined) return {};
  const Test = ["CMD", script.health === "healthy" ? "true" : "false"];
  return { Healthcheck: { Test, Interval: CHECK_INTERVAL_NS, Retries: 1 } };
}
