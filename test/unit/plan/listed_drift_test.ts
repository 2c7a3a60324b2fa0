import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { COMPOSE_LABELS, formatDrift, type ObservedContainer } from "../../../src/model/mod.ts";
import { listedDrift } from "../../../src/plan/mod.ts";
import { containerOf, EXPECTED, serviceOf } from "./values.ts";

const web = serviceOf("web", {
  place: { containerName: "", networks: ["stack_default"] },
  expectation: { ...EXPECTED, restarts: true },
});

function webContainer(fields: Partial<ObservedContainer> = {}): ObservedContainer {
  const made = containerOf("web");
  return {
    ...made,
    labels: { ...made.labels, [COMPOSE_LABELS.project]: "stack", [COMPOSE_LABELS.number]: "1" },
    networkNames: ["stack_default"],
    ...fields,
  };
}

describe("listedDrift()", () => {
  const table: readonly (readonly [string, readonly ObservedContainer[], readonly string[]])[] = [
    ["nothing of what runs as it should", [webContainer()], []],
    ["a container that is gone", [], ["service web: containers: 0 instead of 1"]],
    ["one too many", [webContainer(), webContainer({ id: "two" })], [
      "service web: containers: 2 instead of 1",
    ]],
    ["one that was stopped", [webContainer({ state: "exited", exitCode: 0 })], [
      "container stack-web-1: state: exited instead of running",
    ]],
    ["one that was renamed", [webContainer({ name: "mine" })], [
      "container mine: name: mine instead of stack-web-1",
    ]],
    ["one that was disconnected", [webContainer({ networkNames: [] })], [
      "container stack-web-1: network stack_default: none instead of connected",
    ]],
    [
      "nothing of a network that a proxy connected it to",
      [webContainer({ networkNames: ["bridge", "stack_default"] })],
      [],
    ],
    ["one that somebody added", [webContainer(), containerOf("extra", { labels: {} })], [
      "container stack-extra-1 (service extra) is an orphan that was kept: Stackwright did not make it, " +
      "and the next commit that changes the stack removes it, unless it has remove_orphans: false",
    ]],
    ["nothing of what somebody started of an inactive profile", [
      webContainer(),
      containerOf("off", { labels: {} }),
    ], []],
    ["nothing of what an author keeps", [webContainer(), containerOf("kept")], []],
  ];
  for (const [title, containers, lines] of table) {
    it(`finds ${title}`, () =>
      assert.deepEqual(
        listedDrift({ services: [web], inactive: ["off"] }, { containers }).map(formatDrift),
        lines,
      ));
  }

  it("calls nothing extra where a network is named by its id", () => {
    const byId = { ...web, place: { containerName: "", networks: ["abc123"] } };
    const container = webContainer({ networkIds: ["abc123def"] });
    assert.deepEqual(listedDrift({ services: [byId] }, { containers: [container] }), []);
  });
});
