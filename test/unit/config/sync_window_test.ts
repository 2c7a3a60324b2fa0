import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseSyncWindows } from "../../../src/config/mod.ts";
import { formatProblem, isStackwrightError } from "../../../src/model/mod.ts";

const OPTIONS = { file: "SYNC_WINDOWS", timeZone: "Europe/Berlin" };

function problemsOf(text: string): string[] {
  try {
    parseSyncWindows(text, OPTIONS);
  } catch (error) {
    if (isStackwrightError(error, "config_invalid")) return error.problems.map(formatProblem);
    throw error;
  }
  return [];
}

describe("parseSyncWindows()", () => {
  it("reads a list, with names and zones where there are none", () => {
    const text = `
- {kind: " Deny ", schedule: "0 18 * * 5", duration: 62h, deployments: [prod-*], manual_sync: true}
- {name: night, kind: allow, schedule: "@daily", duration: 90, timezone: UTC}`;
    const [deny, allow] = parseSyncWindows(text, OPTIONS);
    assert.deepEqual(deny, {
      name: "deny-1",
      kind: "deny",
      schedule: "0 18 * * 5",
      durationSeconds: 62 * 3600,
      timeZone: "Europe/Berlin",
      repositories: [],
      deployments: ["prod-*"],
      contexts: [],
      manualSync: true,
    });
    assert.deepEqual([allow?.name, allow?.durationSeconds, allow?.timeZone], ["night", 90, "UTC"]);
    assert.deepEqual(parseSyncWindows("[]", OPTIONS), []);
  });

  const good = `kind: deny, schedule: "0 1 * * *", duration: 1h`;
  const wrong: [text: string, problem: RegExp][] = [
    ["kind: deny", /expected a list of windows/],
    [`- {${good}, branch: x}`, /:1:\d+.*branch/],
    [`- {${good}, timezone: Mars/Base}`, /timezone: "Mars\/Base" is no time zone/],
    [`- {${good}, repositories: [""]}`, /repositories\[0\]: expected a pattern/],
    [`- {kind: freeze, schedule: "0 1 * * *", duration: 1h}`, /kind: expected allow or deny/],
    [`- {kind: deny, schedule: "@every 5m", duration: 1h}`, /schedule: .*@every/],
    [
      `- {kind: deny, schedule: "TZ=UTC 0 1 * * *", duration: 1h}`,
      /schedule: .*timezone is for it/,
    ],
    [`- {kind: deny, schedule: "0 1 * *", duration: 1h}`, /schedule: .*five fields/],
    [`- {kind: deny, schedule: "0 1 * * *", duration: 59s}`, /duration: /],
    [`- {kind: deny, schedule: "0 1 * * *"}`, /duration/],
    [`- {name: A, ${good}}\n- {name: a, ${good}}`, /:2:\d+.*\[1\]\.name: another window/],
  ];
  it("says all that is wrong with a window, whatever its other keys are", () => {
    assert.deepEqual(
      problemsOf('- {kind: denyy, schedule: "x", duration: 2, timezone: Mars}\n- 3').map((each) =>
        each.replace(/^.*?(\[\d\]\S*): .*$/s, "$1")
      ),
      ["[0].kind", "[0].duration", "[0].timezone", "[0].schedule", "[1]"],
    );
  });

  for (const [text, problem] of wrong) {
    it(`says what is wrong with ${text.replaceAll("\n", " ")}`, () => {
      const [first = "", ...others] = problemsOf(text);
      assert.match(first, problem);
      assert.deepEqual(others, []);
    });
  }
});
