import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  lsRefsRequest,
  readAdvertisement,
  readLsRefs,
} from "../../../../src/source/git/ls_refs.ts";
import { readPackets, writePackets } from "../../../../src/source/git/pkt_line.ts";

const A = "a".repeat(40);
const B = "b".repeat(40);
const ASCII = (text: string) => new TextEncoder().encode(text);

describe("packets", () => {
  it("have the length in bytes in front of them", () => {
    const text = writePackets([
      "command=ls-refs",
      "delimiter",
      "ref-prefix refs/heads/zürich",
      "flush",
    ]);
    assert.equal(text, "0014command=ls-refs\n00010022ref-prefix refs/heads/zürich\n0000");
    assert.deepEqual(readPackets(ASCII(text)), [
      { text: "command=ls-refs" },
      "delimiter",
      { text: "ref-prefix refs/heads/zürich" },
      "flush",
    ]);
  });

  for (const broken of ["00", "zzzz", "0003", "0009abc", "0008abc\xff", "<html>", "-001", "0x1f"]) {
    it(`are not ${JSON.stringify(broken)}`, () => {
      assert.equal(readPackets(Uint8Array.from(broken, (each) => each.charCodeAt(0))), undefined);
    });
  }
});

describe("more packets than an answer has", () => {
  it("are not read", () => {
    const bytes = (count: number) => new TextEncoder().encode("0004".repeat(count));
    assert.equal(readPackets(bytes(32_768))?.length, 32_768);
    assert.ok(readPackets(bytes(32_769)) === undefined);
  });
});

describe("readAdvertisement()", () => {
  const service = writePackets(["# service=git-upload-pack", "flush"]);

  it("reads the capabilities of protocol 2, with and without the line of the service", () => {
    const said = writePackets(["version 2", "ls-refs=unborn", "fetch=shallow", "flush"]);
    for (const body of [said, service + said]) {
      const capabilities = ["ls-refs=unborn", "fetch=shallow"];
      assert.deepEqual(readAdvertisement(body), { version: 2, capabilities });
    }
  });

  it("keeps little of a server that says much", () => {
    const much = Array.from({ length: 20_000 }, (_, at) => `c${at}`);
    const said = ["version 2", "ls-refs", ...much, `fetch=${"x".repeat(1000)}`, "ls-refs", "flush"];
    const read = readAdvertisement(writePackets(said));
    assert.ok(read?.version === 2);
    assert.equal(read.capabilities.length, 1);
    assert.equal(read.capabilities[0], "ls-refs");
  });

  it("reads the references of older protocols", () => {
    const refs = [
      `${A} HEAD\0multi_ack symref=HEAD:refs/heads/main agent=git/2`,
      `${A} refs/heads/main`,
      `${B} refs/tags/v1`,
      `${A} refs/tags/v1^{}`,
    ];
    for (const begin of [[], ["version 1"]]) {
      const said = readAdvertisement(service + writePackets([...begin, ...refs, "flush"]));
      assert.ok(said?.version === 0);
      assert.equal(said.refs.head, "refs/heads/main");
      assert.deepEqual([...said.refs.ids], [
        ["HEAD", A],
        ["refs/heads/main", A],
        ["refs/tags/v1", B],
        ["refs/tags/v1^{}", A],
      ]);
    }
    const empty = `${"0".repeat(40)} capabilities^{}\0agent=git/2`;
    const said = readAdvertisement(service + writePackets([empty, "flush"]));
    assert.ok(said?.version === 0 && said.refs.ids.size === 0);
  });

  for (
    const body of [
      "",
      "<!doctype html>",
      service,
      writePackets(["ERR access denied", "flush"]),
      `${service}${writePackets([`${A} HEAD`])}`,
      writePackets(["version 2", "delimiter", "flush"]),
    ]
  ) {
    it(`takes ${JSON.stringify(body.slice(0, 40))} for nothing it knows`, () => {
      assert.equal(readAdvertisement(body), undefined);
    });
  }
});

describe("ls-refs", () => {
  it("asks for beginnings of names, in the format that the server has", () => {
    assert.deepEqual(
      readPackets(ASCII(lsRefsRequest(["HEAD", "refs/heads/a"], ["object-format=sha1", "x"]))),
      [
        { text: "command=ls-refs" },
        { text: "object-format=sha1" },
        "delimiter",
        { text: "peel" },
        { text: "symrefs" },
        { text: "ref-prefix HEAD" },
        { text: "ref-prefix refs/heads/a" },
        "flush",
      ],
    );
  });

  it("reads ids, where HEAD points to, and what tags stand for", () => {
    const refs = readLsRefs(writePackets([
      `${A} HEAD symref-target:refs/heads/main`,
      `${B} refs/tags/v1 peeled:${A}`,
      "flush",
    ]));
    assert.equal(refs?.head, "refs/heads/main");
    assert.deepEqual([...refs.ids], [["HEAD", A], ["refs/tags/v1", B], ["refs/tags/v1^{}", A]]);
    assert.equal(readLsRefs("0000")?.ids.size, 0);
  });

  for (
    const line of ["ERR no", `${A}refs/heads/main`, "unborn HEAD", `${A.slice(1)} HEAD`, `${A} `]
  ) {
    it(`takes ${JSON.stringify(line)} for nothing it knows`, () => {
      assert.equal(readLsRefs(writePackets([line, "flush"])), undefined);
    });
  }

  it("takes half an answer for none", () => {
    assert.equal(readLsRefs(writePackets([`${A} HEAD`])), undefined);
  });
});
