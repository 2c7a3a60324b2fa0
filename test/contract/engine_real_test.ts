import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PART } from "../../src/docker/logs.ts";
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

  describe("containerLogs() of a real engine", () => {
    for (const Tty of [false, true]) {
      it(`keeps last words without a line end apart from what the next start says (Tty ${Tty})`, async () => {
        await ensureBusyboxImage();
        const engine = createEngine({ host: `unix://${real.socketPath}` });
        const { signal } = new AbortController();
        const long = "head -c 20000 /dev/zero | tr '\\0' x";
        const say = `test -e /again && { ${long}; echo; echo end; exit; }; printf "last words"`;
        const json = {
          Image: BUSYBOX_IMAGE,
          Tty,
          Cmd: ["sh", "-c", `${say}; touch /again`],
          HostConfig: { NetworkMode: "none" },
        };
        const create = { method: "POST", path: "/containers/create", json } as const;
        const { Id: id } = await engine.api.json(create, signal) as { Id: string };
        try {
          for (let start = 0; start < 2; start++) {
            await engine.startContainer(id, signal);
            await engine.waitContainer(id, signal);
          }
          assert.deepEqual(await engine.containerLogs(id, 10, signal), [
            "last words",
            `${"x".repeat(PART)}…`,
            "end",
          ]);
        } finally {
          await engine.removeContainer(id, { force: true, volumes: true }, signal);
          engine.close();
        }
      });
    }
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

function command(script: Script): Record<string, unknown> {
  if (script.exit === undefined) return { Cmd: ["sleep", "1000"] };
  return { Cmd: ["sh", "-c", `echo out; echo err >&2; exit ${script.exit}`] };
}

function healthcheck(script: Script): Record<string, unknown> {
  if (script.health === undefined) return {};
  const Test = ["CMD", script.health === "healthy" ? "true" : "false"];
  return { Healthcheck: { Test, Interval: CHECK_INTERVAL_NS, Retries: 1 } };
}
