import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  badImageName,
  builtNames,
  canComeAgain,
  foundName,
  keptName,
  mixedUpBuilds,
  peerImage,
} from "../../../src/model/mod.ts";
import { createRedactor } from "../../../src/system/mod.ts";

describe("canComeAgain()", () => {
  const name = keptName("sha256:a");
  type Names = readonly string[];
  const rows: readonly (readonly [string, boolean, Names, Names?])[] = [
    ["from a registry", true, ["app:1"], ["app@sha256:d"]],
    ["from a registry, whose name another image has by now", true, [], ["app@sha256:d"]],
    [
      "that was there before a registry had it",
      false,
      [foundName("sha256:a"), "app:1"],
      ["app@sha256:d"],
    ],
    ["with the name for another one that was", true, [foundName("sha256:b")], ["app@sha256:d"]],
    ["built for the stack", true, ["app:1", `${builtNames("shop")}1`]],
    ["built for another stack", false, [`${builtNames("another")}1`]],
    ["that a person made", false, ["app:1"]],
    ["whose last name was taken, maybe a person's", false, []],
    ["that has only a name by which it was kept", false, [name]],
  ];
  for (const [what, can, tags, digests = []] of rows) {
    it(`is ${can} for an image ${what}`, () =>
      assert.equal(canComeAgain({ id: "sha256:a", tags, digests }, "shop"), can));
  }
});

describe("badImageName()", () => {
  const refused = [
    ["App", "it"],
    ["App:1", "all but its registry, tag and digest"],
    ["acme/App@sha256:0a", "all but its registry, tag and digest"],
    ["ghcr.io/Acme/shop:V1", "all but its registry, tag and digest"],
    ["localhost/App", "all but its registry, tag and digest"],
    ["Host:5000/a/B", "all but its registry, tag and digest"],
  ] as const;
  for (const [reference, what] of refused) {
    it(`says of ${reference} that ${what} has to be in lower case`, () => {
      const text = `${reference} is no name of an image: ${what} has to be in lower case`;
      assert.equal(badImageName(reference), text);
    });
  }

  for (
    const reference of [
      "app:",
      "/app:1",
      "ghcr.io//app:1",
      ":1",
      "app@",
      "host:/app",
      "app:@sha256:0a",
    ]
  ) {
    it(`says of ${reference} that a part of it is empty`, () => {
      const text = badImageName(reference) ?? "";
      assert.ok(
        text.startsWith(`${reference} is no name of an image: a part of it is empty`),
        text,
      );
    });
  }

  for (
    const secret of [
      "Hunter2-Zq8xKw4Lm",
      "kA9/xYz7Qw8Lm4Rt",
      "aB3xK9/Qw8Lm4RtZ@pV5nT1",
      "Ab9:Zq8xKw4Lm/Yt",
    ]
  ) {
    it(`leaves nothing of ${secret} to be seen where it is a secret`, () => {
      const redactor = createRedactor();
      redactor.add(secret);
      const text = redactor.redact(badImageName(secret) ?? "").toLowerCase();
      for (let at = 0; at + 5 <= secret.length; at++) {
        assert.ok(!text.includes(secret.slice(at, at + 5).toLowerCase()), text);
      }
    });
  }

  for (
    const reference of [
      "",
      "app",
      "app:V1",
      "ghcr.io/a/b:V1",
      "Docker/app",
      "Host:5000/a",
      "[fd00::1]:5000/a:1",
      "sha256:0a",
    ]
  ) {
    it(`has nothing against ${JSON.stringify(reference)}`, () => {
      assert.equal(badImageName(reference), undefined);
    });
  }
});

describe("mixedUpBuilds()", () => {
  it("are those whose names are the same with _ for each dot, apart from the first", () => {
    const found = mixedUpBuilds(["a.b.c", "a", "a_b_c", "a.b_c", "a-b-c", "a.b.c", "__proto__"]);
    assert.deepEqual(found.map(({ service }) => service), ["a_b_c", "a.b_c"]);
    assert.match(found[1]?.why ?? "", /only one of a\.b\.c and a\.b_c,/);
  });
});

describe("peerImage()", () => {
  for (
    const reference of [
      "ghcr.io/kimdre/doco-cd",
      "ghcr.io/kimdre/doco-cd:latest",
      "localhost:5000/mirror/doco-cd:0.49@sha256:0a",
      "doco-cd:m1x",
    ]
  ) {
    it(`finds ${reference}`, () => assert.match(peerImage(reference) ?? "", /pause: true/));
  }

  for (
    const reference of [
      "",
      "doco",
      "me/doco-cd-ui:1",
      "doco-cd/app",
      "a/not-doco-cd",
      "app:doco-cd",
    ]
  ) {
    it(`has nothing against ${JSON.stringify(reference)}`, () => {
      assert.equal(peerImage(reference), undefined);
    });
  }
});
