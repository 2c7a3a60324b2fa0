import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseContainerStatus } from "../../../src/docker/status.ts";

describe("parseContainerStatus()", () => {
  const none = { health: "none", exitCode: undefined } as const;
  const cases = [
    ["running", "Up 3 seconds", { ...none, state: "running" }],
    ["running", "Up Less than a second (healthy)", {
      ...none,
      state: "running",
      health: "healthy",
    }],
    ["running", "Up About an hour (unhealthy)", { ...none, state: "running", health: "unhealthy" }],
    ["running", "Up 1 second (health: starting)", {
      ...none,
      state: "running",
      health: "starting",
    }],
    ["paused", "Up 2 days (Paused)", { ...none, state: "paused" }],
    ["exited", "Exited (137) 2 hours ago", { ...none, state: "exited", exitCode: 137 }],
    ["exited", "Exited (0) Less than a second ago", { ...none, state: "exited", exitCode: 0 }],
    ["exited", "Exited (-1) 1 second ago", { ...none, state: "exited", exitCode: -1 }],
    ["restarting", "Restarting (1) 3 seconds ago", { ...none, state: "restarting", exitCode: 1 }],
    ["created", "Created", { ...none, state: "created" }],
    ["dead", "Dead", { ...none, state: "dead" }],
    ["removing", "Removal In Progress", { ...none, state: "removing" }],
    ["Running", "Up 3 seconds", { ...none, state: "running" }],
    ["hibernating", "Asleep", { ...none, state: "dead" }],
    ["", "", { ...none, state: "dead" }],
  ] as const;
  for (const [state, status, expected] of cases) {
    it(`reads ${JSON.stringify(state)} and ${JSON.stringify(status)}`, () => {
      assert.deepEqual(parseContainerStatus(state, status), expected);
    });
  }
});
