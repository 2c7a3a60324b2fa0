import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { writtenLines } from "../fakes/recording_log.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { commit } from "./steps.ts";
import { createWorld, engines, IMAGE, type World } from "./world.ts";

/** A secret, and what is left of it where its line was cut 16 KiB after it began. */
const SECRET = "Wq7Zk2Lm9Xc4Vb8Nn3Hd6Js1Pf5Rt0Yg";
const REST = SECRET.slice(5);
const LONG = `head -c 16379 /dev/zero | tr "\\0" a`;

/** Failed runs until one tells what a test is about. */
const MOST_TRIES = 8;

/** A log that drops entries, of a service that is waited for until it ends. */
const LOSSY = {
  logging: { driver: "json-file", options: { mode: "non-blocking", "max-buffer-size": "1" } },
  healthcheck: { test: ["CMD", "false"], interval: "1h" },
};

/** A compose file of a service that runs a script with the secret as `$S`. */
const printing = (script: string, more: Record<string, Part>) => (number: string) =>
  composeFile({
    web: service({
      labels: { number },
      command: ["sh", "-c", dollars(script)],
      environment: { S: "${APP_PASSWORD}" },
      ...more,
    }),
  });

/** Output that was cut in front, within the secret, by who keeps or tells it. */
const CASES: Readonly<Record<string, (number: string) => string>> = {
  "a log of which entries with a long tag were removed": printing(
    `for i in 1 2 3 4 5 6 7 8; do echo before; done; ${LONG}; echo "$S more"; ` +
      "for i in 1 2 3 4 5 6 7 8 9; do echo line; done; exit 1",
    {
      logging: {
        driver: "json-file",
        options: { "max-size": "500k", "max-file": "2", tag: "x".repeat(60_000) },
      },
    },
  ),
  // The pause is long enough for a driver on a slow disk to take the rest of the line.
  "a log whose driver drops what is too much for it": printing(
    `big=$(${LONG}); yes filler | head -n 50000; printf "%s%s" "$big" "$S"; sleep 3; ` +
      'echo " more"; exit 1',
    LOSSY,
  ),
  "a log whose driver drops the middle of lines": printing(
    `long() { head -c "$1" /dev/zero | tr "\\0" a; }; l="$(long 32763)$S"; m="$(long 32736)$S"; ` +
      'for i in 1 2 3 4 5 6; do printf "%s%s%s%s" "$l" "$m" "$m" "$m"; sleep 0.3; ' +
      'echo " filler"; done; sleep 2; echo "$S more"; exit 1',
    LOSSY,
  ),
  "a build that printed more than is told": (number) =>
    composeFile({
      web: { labels: { number }, build: { context: ".", args: { S: "${APP_PASSWORD}" } } },
    }),
};

/** As in a compose file, where a dollar is written twice. */
function dollars(text: string): string {
  return text.replaceAll("$", "$$$$");
}

const HOW_IT_BUILDS = {
  Dockerfile: `FROM ${IMAGE}\nARG S\nCOPY run.sh /run.sh\nRUN ["sh", "/run.sh"]\n`,
  "run.sh": 'yes "filler filler filler filler" | head -c 4000000; echo; echo "$S more"; ' +
    `head -c ${
      256 * 1024 - REST.length - " more\n\n".length
    } /dev/zero | tr "\\0" b; echo; exit 1\n`,
};

for (const engine of (await engines()).filter((each) => each === "real")) {
  describe(`what is told of output on the ${engine} engine`, () => {
    for (const [what, compose] of Object.entries(CASES)) {
      it(`has no end of a secret: ${what}`, async () => {
        const world = await createWorld({ engine });
        try {
          await commit(world, { ...HOW_IT_BUILDS, ".env": `APP_PASSWORD=${SECRET}\n` });
          let isTold = false;
          // What a driver drops is a matter of time.
          for (let at = 0; at < MOST_TRIES && !isTold; at++) {
            await commit(world, { "compose.yaml": compose(String(at)) });
            isTold = await tellsHidden(world);
          }
          assert.ok(isTold);
        } finally {
          await world.close();
        }
      });
    }
  });
}

/** Whether a failed run tells the line with the secret; no end of that may be in anything told. */
async function tellsHidden(world: World): Promise<boolean> {
  const { run } = await world.poll();
  assert.equal(run.status, "failed");
  const message = run.deployments?.[0]?.message ?? "";
  const told = [message, ...writtenLines(world.lines, world.redactor)].join("\n");
  assert.ok(!told.includes(REST.slice(-8)), told.slice(-3000));
  return told.includes("*** more");
}
