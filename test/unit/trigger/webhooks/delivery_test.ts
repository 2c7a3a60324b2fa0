import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type SourceRequest, StackwrightError } from "../../../../src/model/mod.ts";
import { sameHostAndPath, sourceLocation } from "../../../../src/source/mod.ts";
import { sameRepository } from "../../../../src/source/source_name.ts";
import {
  createLocate,
  deliveryOf,
  type LocateOptions,
  type WebhookEvent,
  type WebhookSourceOptions,
} from "../../../../src/trigger/mod.ts";
import { MOST_REFERENCES } from "../../../../src/trigger/webhooks/delivery.ts";
import { parseInlineDeployments } from "../../../fakes/inline_deployments.ts";

const places: LocateOptions = {
  rewrite: () => undefined,
  allowLocal: false,
  nameOf: (url) => sourceLocation("git", url).name,
  hasSshKey: () => false,
  agree: sameHostAndPath,
  configured: () => undefined,
};
const options: WebhookSourceOptions = { locate: createLocate(places) };
const repository = {
  fullName: "acme/shop",
  cloneUrl: "https://git.example.org/acme/shop.git",
  sshUrl: "ssh://git@git.example.org:2222/acme/shop.git",
};

/** A push to one reference, by default to the branch main. */
function push(
  { reference = "refs/heads/main", deleted = false, ...rest }:
    & { readonly reference?: string; readonly deleted?: boolean }
    & Partial<typeof repository> = {},
): WebhookEvent {
  return {
    kind: "push",
    repository: { ...repository, ...rest },
    changes: [{ reference, commit: "", deleted }],
  };
}

function sourcesOf(
  event: WebhookEvent,
  changed: Partial<LocateOptions & WebhookSourceOptions> = {},
  target = "",
): readonly SourceRequest[] {
  const locate = createLocate({ ...places, ...changed });
  const delivery = deliveryOf(event, target, { locate, ...changed });
  return delivery.kind === "deploy" ? delivery.sources : [];
}

function refusal(event: WebhookEvent, target = ""): readonly string[] {
  try {
    deliveryOf(event, target, options);
  } catch (error) {
    assert.ok(error instanceof StackwrightError);
    return [error.code, error.message];
  }
  return [];
}

describe("deliveryOf() a push", () => {
  it("asks for the reference, not for the commit of the payload", () => {
    assert.deepEqual(sourcesOf(push(), {}, "edge.example"), [{
      kind: "git",
      url: "https://git.example.org/acme/shop.git",
      identity: "git.example.org/acme/shop",
      reference: "refs/heads/main",
      target: "edge.example",
      deployments: [],
    }]);
  });

  it("asks for each reference once", () => {
    const change = (reference: string, deleted = false) => ({ reference, commit: "", deleted });
    const changes = [
      change("refs/heads/main"),
      change("refs/tags/v1"),
      change("refs/heads/main"),
      change("refs/heads/gone", true),
      change("refs/notes/commits"),
      change("refs/pull/1/head"),
      // Servers give out commits by their id that are on no branch, such as those of pull requests.
      change("0123456789abcdef0123456789abcdef01234567"),
      change("0123456789ABCDEF0123456789abcdef01234567"),
      change("HEAD"),
    ];
    const sources = sourcesOf({ kind: "push", repository, changes });
    assert.deepEqual(sources.map((each) => each.reference), ["refs/heads/main", "refs/tags/v1"]);
  });

  it("takes as many references as are looked at, and refuses more as a whole", () => {
    const pushed = (count: number): WebhookEvent => ({
      kind: "push",
      repository,
      changes: Array.from({ length: count + 1 }, (_, index) => ({
        reference: `refs/tags/v${Math.min(index, count - 1)}`,
        commit: "",
        deleted: false,
      })),
    });
    assert.equal(sourcesOf(pushed(MOST_REFERENCES)).length, MOST_REFERENCES);
    assert.deepEqual(refusal(pushed(8000)), [
      "payload_too_large",
      "too many references in one push",
    ]);
  });

  const urls: [
    string,
    Partial<typeof repository>,
    Partial<LocateOptions>,
    string,
    string,
  ][] = [
    [
      "clones by SSH when there is a key",
      {},
      { hasSshKey: () => true },
      repository.sshUrl,
      "git.example.org/acme/shop",
    ],
    [
      "clones by HTTP when the SSH URL is nonsense",
      { sshUrl: "-oProxyCommand=x" },
      { hasSshKey: () => true },
      repository.cloneUrl,
      "git.example.org/acme/shop",
    ],
    [
      "clones by SSH when there is nothing else",
      { cloneUrl: "" },
      {},
      repository.sshUrl,
      "git.example.org_2222/acme/shop",
    ],
    [
      "goes by the name of what is cloned when the SSH URL is another repository",
      { sshUrl: "git@git.example.org:evil/shop.git" },
      { hasSshKey: () => true },
      "git@git.example.org:evil/shop.git",
      "git.example.org/evil/shop",
    ],
    [
      "goes by the name of what is cloned when the SSH URL is on another host",
      { sshUrl: "git@evil.example:acme/shop.git" },
      { hasSshKey: () => true },
      "git@evil.example:acme/shop.git",
      "evil.example/acme/shop",
    ],
    [
      "keeps the URL as it was given where a rule says how to reach it, whatever keys there are",
      {},
      { rewrite: () => "http://gitea:3000/acme/shop.git", hasSshKey: () => true },
      repository.cloneUrl,
      "git.example.org/acme/shop",
    ],
    [
      "lets a rule lead away from this machine",
      { cloneUrl: "file:///srv/git/shop" },
      { rewrite: () => "https://git.example.org/acme/shop" },
      "file:///srv/git/shop",
      "local/srv/git/shop",
    ],
    [
      "takes a repository of this machine when that is allowed",
      { cloneUrl: "/srv/shop.git", sshUrl: "" },
      { allowLocal: true },
      "file:///srv/shop.git",
      "local/srv/shop.git",
    ],
  ];
  for (const [what, given, changed, url, identity] of urls) {
    it(what, () => {
      const [source] = sourcesOf(push(given), changed);
      assert.deepEqual([source?.url, source?.identity], [url, identity]);
    });
  }

  const polled: SourceRequest = {
    kind: "git",
    url: "https://user:token@git.example.org/Acme/shop",
    reference: "main",
    target: "",
    deployments: [],
  };
  const configured = (url: string): Partial<LocateOptions> => ({
    configured: (urls) =>
      urls.some((each) => sameRepository(each, url)) ? { ...polled, url } : undefined,
  });

  it("reaches a polled repository in the way the operator wrote", () => {
    const [source] = sourcesOf(push(), configured(polled.url));
    assert.deepEqual([source?.url, source?.identity], [polled.url, "git.example.org/Acme/shop"]);
    assert.equal(source?.reference, "refs/heads/main");
  });

  it("knows a polled repository by its SSH URL too", () => {
    const [source] = sourcesOf(push(), configured(repository.sshUrl));
    assert.equal(source?.identity, "git.example.org_2222/acme/shop");
  });

  it("takes the inline deployments that were configured for the source", () => {
    const deployments = parseInlineDeployments([{ name: "shop" }], "POLL_CONFIG");
    const asked: SourceRequest[] = [];
    const [source] = sourcesOf(push(), {
      inlineDeploymentsFor: (request) => {
        asked.push(request);
        return deployments;
      },
    }, "edge");
    assert.equal(source?.deployments, deployments);
    assert.deepEqual(asked.map(({ reference, target }) => [reference, target]), [[
      "refs/heads/main",
      "edge",
    ]]);
  });

  const skips: [string, WebhookEvent, string][] = [
    [
      "a deletion",
      push({ deleted: true }),
      "branch or tag deletion event received, skipping webhook event",
    ],
    [
      "a deletion of a local repository",
      push({ deleted: true, cloneUrl: "/x" }),
      "branch or tag deletion event received, skipping webhook event",
    ],
    [
      "a reference that is no branch",
      push({ reference: "refs/pull/1/head" }),
      "the reference is neither a branch nor a tag, skipping event",
    ],
    ["another event", { kind: "other", repository, message: "ping" }, "ping"],
  ];
  for (const [what, event, message] of skips) {
    it(`skips ${what}`, () => {
      assert.deepEqual(deliveryOf(event, "edge", options), {
        kind: "skip",
        repository: "acme/shop",
        target: "edge",
        message,
      });
    });
  }

  it("names a repository without a name by its URL, never with credentials", () => {
    const named = { fullName: "", cloneUrl: "https://u:p@h/a", sshUrl: "" };
    const delivery = deliveryOf({ kind: "other", repository: named, message: "x" }, "", options);
    assert.equal(delivery.kind === "skip" && delivery.repository, "h/a");
  });

  const NOT_ALLOWED = ["forbidden", "webhook clone URL is not allowed"];
  const MALFORMED = ["bad_request", "failed to parse payload"];
  const refused: [WebhookEvent, readonly string[]][] = [
    ...[
      "/srv/git/shop",
      "file:///srv/git/shop",
      "FILE:///srv",
      "../shop",
      "./shop",
      "//host/x",
      "C:\\x",
    ]
      .map((cloneUrl): [WebhookEvent, readonly string[]] => [push({ cloneUrl }), NOT_ALLOWED]),
    ...["ext::sh -c id", "-oProxyCommand=id", "ftp://h/x", "https://", "h", "git@h:x\u0000y"]
      .map((cloneUrl): [WebhookEvent, readonly string[]] => [push({ cloneUrl }), MALFORMED]),
    [push({ cloneUrl: "", sshUrl: "" }), MALFORMED],
    [push({ fullName: "../../etc" }), ["bad_request", "invalid repository name"]],
    [push({ reference: "" }), [
      "bad_request",
      "no reference provided in webhook payload, skipping event",
    ]],
    ...[
      "-x",
      "refs/heads/a b",
      "refs/heads/../x",
      "refs/heads/x\n",
      "a".repeat(1025),
      "x?",
      "refs/heads/",
    ]
      .map((reference): [WebhookEvent, readonly string[]] => [push({ reference }), MALFORMED]),
  ];
  for (const [event, expected] of refused) {
    it(`refuses ${JSON.stringify(event).slice(32, 180)}`, () =>
      assert.deepEqual(refusal(event), expected));
  }

  it("refuses a URL that leaves its directory", () => {
    const [code, message] = refusal(push({ cloneUrl: "https://u:p@h/a/../../b" }));
    assert.equal(code, "bad_request");
    assert.doesNotMatch(message ?? "", /u:p/);
  });

  for (const target of ["../x", "a/b", ".x", "x".repeat(101), " "]) {
    it(`refuses the target ${JSON.stringify(target).slice(0, 20)}`, () => {
      assert.deepEqual(refusal(push(), target), ["bad_request", "invalid target"]);
    });
  }
});

describe("deliveryOf() an artifact", () => {
  const digest = `sha256:${"a".repeat(64)}`;
  const event = (artifact: string, given = digest): WebhookEvent => ({
    kind: "artifact",
    artifact,
    digest: given,
  });
  const cases: [WebhookEvent, string, string][] = [
    [event("r.example.org/a/b:v1"), `r.example.org/a/b:v1@${digest}`, "v1"],
    [event("r.example.org/a/b:v1", ""), "r.example.org/a/b:v1", "v1"],
    [event(`r.example.org/a/b@${digest}`), `r.example.org/a/b@${digest}`, digest],
  ];
  for (const [given, url, reference] of cases) {
    it(`asks for ${url.slice(0, 40)}`, () => {
      const expected = { kind: "oci", url, reference, target: "", deployments: [] };
      assert.deepEqual(sourcesOf(given), [expected]);
    });
  }

  it("refuses one that names no registry", () => {
    assert.equal(refusal(event("shop"))[1], "failed to parse payload");
  });
});
