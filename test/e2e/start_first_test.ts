import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "node:test";
import { composeFile, service } from "../flow/compose_text.ts";
import { commit, docker, pollTo, reasons } from "../flow/steps.ts";
import { createWorld, engines, type World } from "../flow/world.ts";

/** How often the service is updated; `START_FIRST_UPDATES` says another number. */
const UPDATES = Number(process.env["START_FIRST_UPDATES"] ?? 50);
/** Milliseconds between two requests. */
const EVERY_MS = 5;
/** Requests under way at most, so that a slow machine asks less often. */
const MOST_AT_ONCE = 40;
/** One that waits longer has failed; a packet that is lost is sent again after one, three, seven seconds. */
const LONGEST_MS = 60_000;

/** A web server that answers which version it is, and one that asks it by its name for every request. */
const files = (version: number) => ({
  "compose.yaml": composeFile({
    web: service({
      command: [
        "sh",
        "-c",
        `mkdir /www; echo version ${version} > /www/index.html; trap 'exit 0' TERM; ` +
        "httpd -f -p 80 -h /www & wait",
      ],
      stop_grace_period: "10s",
      healthcheck: {
        test: ["CMD", "wget", "-q", "-O-", "http://127.0.0.1/"],
        interval: "1s",
        retries: 10,
      },
      deploy: { update_config: { order: "start-first" } },
    }),
    proxy: service({
      command: ["nc", "-ll", "-p", "80", "-e", "nc", "web", "80"],
      ports: ["127.0.0.1::80"],
    }),
  }),
});

/** Answers by how often they came; what is no answer of the server is a failure. */
class Load {
  readonly answers = new Map<string, number>();
  readonly failures: string[] = [];
  readonly #url: string;
  readonly #underWay = new Set<Promise<void>>();
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(url: string) {
    this.#url = url;
    this.#timer = setInterval(() => {
      if (this.#underWay.size >= MOST_AT_ONCE) return;
      const request: Promise<void> = this.#ask().finally(() => this.#underWay.delete(request));
      this.#underWay.add(request);
    }, EVERY_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#underWay);
  }

  async #ask(): Promise<void> {
    try {
      const answer = await fetch(this.#url, { signal: AbortSignal.timeout(LONGEST_MS) });
      const text = (await answer.text()).trim();
      if (answer.status !== 200 || !/^version \d+$/.test(text)) {
        this.failures.push(`${answer.status} ${text}`);
      }
      this.answers.set(text, (this.answers.get(text) ?? 0) + 1);
    } catch (error) {
      this.failures.push(String(error));
    }
  }
}

async function proxyOf(world: World): Promise<string> {
  const [place] = (await docker(world, "port", `${world.stack}-proxy-1`, "80")).split("\n");
  return `http://${place}/`;
}

for (const engine of (await engines()).filter((each) => each === "real")) {
  describe(`a service under load that is updated start-first ${UPDATES} times`, () => {
    it("answers every request, asked by a proxy that looks its name up anew", async () => {
      const world = await createWorld({ engine, speed: 1 });
      try {
        await commit(world, files(0));
        await pollTo(world, "succeeded");
        const load = new Load(await proxyOf(world));
        try {
          for (let version = 1; version <= UPDATES; version++) {
            await commit(world, files(version));
            const finished = await pollTo(world, "succeeded");
            assert.match(reasons(finished, "web"), /replaced start-first/);
            assert.deepEqual(load.failures, [], `while it became version ${version}`);
          }
        } finally {
          await load.stop();
        }
        assert.deepEqual(load.failures, []);
        const count = [...load.answers.values()].reduce((sum, each) => sum + each, 0);
        process.stderr.write(`${count} requests, ${load.answers.size} versions answered\n`);
        // The last one may have taken over after the last request.
        assert.equal(load.answers.size >= UPDATES, true, [...load.answers.keys()].join(", "));
      } finally {
        await world.close();
      }
    });
  });
}
