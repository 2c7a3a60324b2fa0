import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import { StackwrightError } from "../../../../src/model/mod.ts";
import { readWebhook, type WebhookEvent } from "../../../../src/trigger/mod.ts";
import {
  azurePush,
  bitbucketCloudPush,
  bitbucketServerPush,
  COMMIT,
  githubPush,
  gitlabPush,
  ociPush,
  type Sender,
  signature,
  signed,
  ZEROS,
} from "../../../fakes/webhook_requests.ts";

const SECRET = "canary-of-webhooks";
const bytes = (text: string) => new TextEncoder().encode(text);

/** Reads a request as it would arrive. */
function read(
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array,
  secret = SECRET,
) {
  const raw = typeof body === "string" ? bytes(body) : body;
  return readWebhook({ headers: new Headers(headers), body: raw }, secret);
}

/** What a request is refused with; nothing of it may repeat the secret or the body. */
function refusalOf(
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array,
  secret = SECRET,
) {
  try {
    read(headers, body, secret);
  } catch (error) {
    assert.ok(error instanceof StackwrightError);
    const detail = error.problems.map((each) => each.message).join("; ");
    assert.doesNotMatch(`${error.message} ${detail}`, /canary/);
    return [error.code, error.message, detail];
  }
  return ["accepted"];
}

const push: Record<Sender, { event: string; payload: unknown; provider: string }> = {
  github: { event: "push", payload: githubPush(), provider: "GitHub" },
  gitea: { event: "push", payload: githubPush(), provider: "Gitea" },
  gitlab: { event: "Push Hook", payload: gitlabPush(), provider: "GitLab" },
  gogs: { event: "push", payload: githubPush(), provider: "Gogs" },
  forgejo: { event: "push", payload: githubPush(), provider: "Forgejo" },
  oci: { event: "push", payload: ociPush(), provider: "OCI" },
  bitbucket: { event: "repo:push", payload: bitbucketCloudPush(), provider: "Bitbucket" },
  azure: { event: "", payload: azurePush(), provider: "Azure DevOps" },
};
const senders = Object.keys(push) as Sender[];

describe("readWebhook() recognises and authenticates", () => {
  for (const sender of senders) {
    const { event, payload, provider } = push[sender];
    const { headers, body } = signed(sender, { event, payload, secret: SECRET });

    it(`${provider} by its security header`, () => {
      assert.equal(read(headers, body).provider, provider);
    });

    it(`${provider} not when the secret is another, the body was changed, or there is no secret`, () => {
      const other = signed(sender, { event, payload, secret: "another secret" });
      assert.equal(refusalOf(other.headers, body)[0], "unauthorized");
      assert.equal(
        refusalOf(signed(sender, { event, payload, secret: "" }).headers, body, "")[0],
        "unauthorized",
      );
      assert.equal(refusalOf(headers, body, "")[0], "unauthorized");
      if (sender === "gitlab" || sender === "azure") return;
      for (const changed of [`${body} `, body.slice(1), body.replace("shop", "evil")]) {
        assert.equal(refusalOf(headers, changed)[0], "unauthorized");
      }
    });

    it(`${provider} not by a header that is empty or nonsense`, () => {
      const name = Object.keys(headers).find((each) => /signature|token|authorization/i.test(each));
      assert.ok(name !== undefined);
      const good = headers[name] ?? "";
      const prefix = sender === "azure" ? "Basic " : "";
      const flipped = good.slice(0, -2) + (good.at(-2) === "0" ? "1" : "0") + good.at(-1);
      for (
        const bad of [
          "",
          "sha256=",
          good.slice(0, -1),
          `${good}0`,
          flipped,
          "x".repeat(5000),
          `sha1=${good}`,
          "%%%",
        ]
      ) {
        assert.equal(refusalOf({ ...headers, [name]: prefix + bad }, body)[0], "unauthorized", bad);
      }
    });
  }

  const body = JSON.stringify(githubPush());
  const hex = signature(body, SECRET);
  const event = { "X-GitHub-Event": "push" };

  const accepted: [string, Record<string, string>][] = [
    ["GitHub's signature without its prefix", { ...event, "X-Hub-Signature-256": hex }],
    ["upper-case digits", { ...event, "X-Hub-Signature-256": `sha256=${hex.toUpperCase()}` }],
    ["Gitea's event under Forgejo's signature", {
      "X-Gitea-Event": "push",
      "X-Forgejo-Signature": hex,
    }],
    ["GitHub's event beside Gitea's signature", { ...event, "X-Gitea-Signature": hex }],
    ["names of headers in any case", { "x-github-event": "PUSH", "x-hub-signature-256": hex }],
    ["Basic in any case", {
      authorization: `bAsIc ${Buffer.from(`a:${SECRET}`).toString("base64")}`,
    }],
  ];
  for (const [what, headers] of accepted) {
    it(`${what}`, () => {
      assert.ok(read(headers, body).provider.length > 0);
    });
  }

  const refused: [string, Record<string, string>, string][] = [
    ["nothing", {}, "bad_request"],
    ["an event alone", event, "bad_request"],
    [
      "GitHub's SHA-1 signature",
      { ...event, "X-Hub-Signature": `sha1=${"a".repeat(40)}` },
      "bad_request",
    ],
    ["a SHA-1 signature of Bitbucket", {
      "X-Event-Key": "repo:push",
      "X-Hub-Signature": `sha1=${"a".repeat(40)}`,
    }, "unauthorized"],
    ["a signature of Bitbucket without prefix", {
      "X-Event-Key": "repo:push",
      "X-Hub-Signature": hex,
    }, "unauthorized"],
    ["a signature of Gitea with a prefix", {
      "X-Gitea-Event": "push",
      "X-Gitea-Signature": `sha256=${hex}`,
    }, "unauthorized"],
    ["a bearer token", { authorization: `Bearer ${SECRET}` }, "bad_request"],
    ["a good signature behind a bad one", {
      ...event,
      "X-Hub-Signature-256": "0",
      "X-Gitea-Signature": hex,
    }, "unauthorized"],
    ["the secret as a user name", {
      authorization: `Basic ${Buffer.from(`${SECRET}:`).toString("base64")}`,
    }, "unauthorized"],
    ["no event", { "X-Hub-Signature-256": hex }, "bad_request"],
  ];
  for (const [what, headers, code] of refused) {
    it(`not ${what}: ${code}`, () => assert.equal(refusalOf(headers, body)[0], code));
  }
});

describe("readWebhook() says what is wrong", () => {
  const sign = (body: string) =>
    signed("github", { event: "push", payload: body, secret: SECRET }).headers;
  const cases: [string, Record<string, string>, string | Uint8Array, string[]][] = [
    ["no header", {}, "{}", [
      "bad_request",
      "missing signature or token header",
      "one of X-Hub-Signature-256, X-Gitea-Signature, X-Gitlab-Token, X-Gogs-Signature, " +
      "X-Forgejo-Signature, X-Service-OCI-Signature-256, X-Hub-Signature, Authorization is needed",
    ]],
    ["an empty body", sign(""), "", [
      "bad_request",
      "failed to parse payload",
      "the body is empty",
    ]],
    ["no JSON", sign('{"a":canary'), '{"a":canary', [
      "bad_request",
      "failed to parse payload",
      "the body is not exactly one JSON value",
    ]],
    ["a list", sign("[]"), "[]", [
      "bad_request",
      "failed to parse payload",
      "the body is not a JSON object",
    ]],
    ["null", sign("null"), "null", [
      "bad_request",
      "failed to parse payload",
      "the body is not a JSON object",
    ]],
    ["a wrong signature", sign("{}"), "{ }", [
      "unauthorized",
      "incorrect secret key",
      "HMAC verification failed",
    ]],
    ["a wrong token", { "X-Gitlab-Token": "x", "X-Gitlab-Event": "Push Hook" }, "{}", [
      "unauthorized",
      "gitlab token verification failed",
      "the token is not the secret",
    ]],
    ["a missing event", { "X-Gitlab-Token": SECRET }, "{}", [
      "bad_request",
      "failed to parse payload",
      "missing event header for GitLab: X-Gitlab-Event",
    ]],
  ];
  for (const [what, headers, body, expected] of cases) {
    it(`about ${what}`, () => assert.deepEqual(refusalOf(headers, body), expected));
  }

  it("about bytes that are no UTF-8", () => {
    const body = new Uint8Array([0x7b, 0xff, 0x7d]);
    const headers = { "X-GitHub-Event": "push", "X-Hub-Signature-256": signature(body, SECRET) };
    assert.equal(refusalOf(headers, body)[2], "the body is not UTF-8");
  });

  it("only after the proof: an unsigned body is not even parsed", () => {
    assert.equal(refusalOf({ ...sign("x"), "X-Hub-Signature-256": "0" }, "{")[0], "unauthorized");
  });
});

const SHOP = {
  fullName: "acme/shop",
  cloneUrl: "https://git.example.org/acme/shop.git",
  sshUrl: "git@git.example.org:acme/shop.git",
};
const LAB = {
  fullName: "acme/shop",
  cloneUrl: "https://gitlab.example.org/acme/shop.git",
  sshUrl: "git@gitlab.example.org:acme/shop.git",
};
const CLOUD = {
  fullName: "acme/shop",
  cloneUrl: "https://bitbucket.org/acme/shop.git",
  sshUrl: "git@bitbucket.org:acme/shop.git",
};
const SERVER = {
  fullName: "ACME/shop",
  cloneUrl: "https://bitbucket.example.org/scm/acme/shop.git",
  sshUrl: "ssh://git@bitbucket.example.org:7999/acme/shop.git",
};
const AZURE = {
  fullName: "Web/shop",
  cloneUrl: "https://dev.azure.com/acme/Web/_git/shop",
  sshUrl: "",
};

function pushed(
  repository: typeof SHOP,
  reference: string,
  { commit = COMMIT, deleted = false } = {},
): WebhookEvent {
  return { kind: "push", repository, changes: [{ reference, commit, deleted }] };
}

function other(repository: typeof SHOP, name: string): WebhookEvent {
  const message = name === "ping"
    ? "ping received, there is nothing to deploy"
    : `${name} event received, only pushes are deployed`;
  return { kind: "other", repository, message };
}

describe("readWebhook() maps", () => {
  const gone = { commit: "", deleted: true };
  const cases: [string, Sender, string, unknown, WebhookEvent][] = [
    ["a push", "github", "push", githubPush(), pushed(SHOP, "refs/heads/main")],
    ["a push to Gitea", "gitea", "push", githubPush(), pushed(SHOP, "refs/heads/main")],
    ["a push to Forgejo", "forgejo", "push", githubPush(), pushed(SHOP, "refs/heads/main")],
    ["a push to Gogs", "gogs", "push", githubPush(), pushed(SHOP, "refs/heads/main")],
    [
      "a pushed tag",
      "github",
      "push",
      githubPush({ ref: "refs/tags/v1" }),
      pushed(SHOP, "refs/tags/v1"),
    ],
    [
      "a branch as it was created",
      "gitea",
      "create",
      githubPush({ ref: "fix/1", ref_type: "branch" }),
      pushed(SHOP, "refs/heads/fix/1", { commit: "" }),
    ],
    [
      "a tag as it was created",
      "gogs",
      "create",
      githubPush({ ref: "v1", ref_type: "tag" }),
      pushed(SHOP, "refs/tags/v1", { commit: "" }),
    ],
    [
      "a branch that is called like a tag as it was created",
      "github",
      "create",
      githubPush({ ref: "refs/tags/v1", ref_type: "branch" }),
      pushed(SHOP, "refs/heads/refs/tags/v1", { commit: "" }),
    ],
    [
      "a tag that is called like another one as it was created",
      "github",
      "create",
      githubPush({ ref: "refs/tags/v1", ref_type: "tag" }),
      pushed(SHOP, "refs/tags/refs/tags/v1", { commit: "" }),
    ],
    [
      "a branch whose name is another one's with a no-break space",
      "github",
      "push",
      githubPush({ ref: "refs/heads/main\u00a0" }),
      pushed(SHOP, "refs/heads/main\u00a0"),
    ],
    [
      "a repository as it was created",
      "github",
      "create",
      githubPush({ ref_type: "repository" }),
      other(SHOP, "create"),
    ],
    [
      "a deleted branch",
      "github",
      "delete",
      githubPush({ ref: "x", ref_type: "branch" }),
      pushed(SHOP, "refs/heads/x", gone),
    ],
    [
      "a deletion by its mark",
      "github",
      "push",
      githubPush({ deleted: true }),
      pushed(SHOP, "refs/heads/main", { deleted: true }),
    ],
    [
      "a deletion by its zeros",
      "gitea",
      "push",
      githubPush({ after: ZEROS }),
      pushed(SHOP, "refs/heads/main", gone),
    ],
    [
      "a first push",
      "github",
      "push",
      githubPush({ before: ZEROS, created: true }),
      pushed(SHOP, "refs/heads/main"),
    ],
    [
      "a push without commits",
      "github",
      "push",
      githubPush({ before: undefined, after: undefined }),
      pushed(SHOP, "refs/heads/main", { commit: "" }),
    ],
    [
      "a push whose reference is no text",
      "github",
      "push",
      githubPush({ ref: undefined as unknown as string, repository: 7 }),
      pushed({ fullName: "", cloneUrl: "", sshUrl: "" }, "refs/heads/main"),
    ],
    ["a ping", "github", "ping", githubPush(), other(SHOP, "ping")],
    ["a release", "github", "release", githubPush(), other(SHOP, "release")],
    ["a push to GitLab", "gitlab", "Push Hook", gitlabPush(), pushed(LAB, "refs/heads/main")],
    [
      "a push to GitLab with the older names of its addresses alone",
      "gitlab",
      "Push Hook",
      gitlabPush({
        project: {
          path_with_namespace: "acme/shop",
          http_url: "https://gitlab.example.org/acme/shop.git",
          ssh_url: "git@gitlab.example.org:acme/shop.git",
        },
      }),
      pushed(LAB, "refs/heads/main"),
    ],
    [
      "a tag of GitLab",
      "gitlab",
      "Tag Push Hook",
      gitlabPush({ ref: "refs/tags/v1" }),
      pushed(LAB, "refs/tags/v1"),
    ],
    [
      "a push announced by the whole instance",
      "gitlab",
      "System Hook",
      gitlabPush(),
      pushed(LAB, "refs/heads/main"),
    ],
    [
      "a new project of the instance",
      "gitlab",
      "System Hook",
      gitlabPush({ object_kind: undefined, event_name: "project_create" }),
      other(LAB, "System Hook"),
    ],
    [
      "a branch deleted on GitLab",
      "gitlab",
      "Push Hook",
      gitlabPush({ after: ZEROS, checkout_sha: null }),
      pushed(LAB, "refs/heads/main", gone),
    ],
    ["a pipeline of GitLab", "gitlab", "Pipeline Hook", gitlabPush(), other(LAB, "Pipeline Hook")],
    [
      "a push to Bitbucket Cloud",
      "bitbucket",
      "repo:push",
      bitbucketCloudPush(),
      pushed(CLOUD, "refs/heads/main"),
    ],
    [
      "a tag of Bitbucket Cloud",
      "bitbucket",
      "repo:push",
      bitbucketCloudPush([{
        new: { type: "tag", name: "v1", target: { hash: COMMIT } },
        old: null,
      }]),
      pushed(CLOUD, "refs/tags/v1"),
    ],
    [
      "a branch of Bitbucket Cloud that is called like a tag",
      "bitbucket",
      "repo:push",
      bitbucketCloudPush([{
        new: { type: "branch", name: "refs/tags/v1", target: { hash: COMMIT } },
        old: null,
      }]),
      pushed(CLOUD, "refs/heads/refs/tags/v1"),
    ],
    [
      "a branch deleted on Bitbucket Cloud",
      "bitbucket",
      "repo:push",
      bitbucketCloudPush([{ new: null, old: { type: "branch", name: "x" }, closed: true }]),
      pushed(CLOUD, "refs/heads/x", gone),
    ],
    [
      "a push to Bitbucket Cloud about nothing",
      "bitbucket",
      "repo:push",
      bitbucketCloudPush([]),
      other(CLOUD, "repo:push"),
    ],
    [
      "a fork on Bitbucket Cloud",
      "bitbucket",
      "repo:fork",
      bitbucketCloudPush(),
      other(CLOUD, "repo:fork"),
    ],
    [
      "a push to Bitbucket Data Center",
      "bitbucket",
      "repo:refs_changed",
      bitbucketServerPush(),
      pushed(SERVER, "refs/heads/main"),
    ],
    [
      "a tag deleted on Bitbucket Data Center",
      "bitbucket",
      "repo:refs_changed",
      bitbucketServerPush([{
        refId: "refs/tags/v1",
        ref: { type: "TAG" },
        toHash: ZEROS,
        type: "DELETE",
      }]),
      pushed(SERVER, "refs/tags/v1", gone),
    ],
    [
      "a branch of Bitbucket Data Center that is called like a tag, by its short name",
      "bitbucket",
      "repo:refs_changed",
      bitbucketServerPush([{
        ref: { displayId: "refs/tags/v1", type: "BRANCH" },
        toHash: COMMIT,
        type: "ADD",
      }]),
      pushed(SERVER, "refs/heads/refs/tags/v1"),
    ],
    [
      "a test of Bitbucket Data Center",
      "bitbucket",
      "diagnostics:ping",
      { test: true },
      other({ fullName: "", cloneUrl: "", sshUrl: "" }, "ping"),
    ],
    ["a push to Azure DevOps", "azure", "", azurePush(), pushed(AZURE, "refs/heads/main")],
    [
      "a branch deleted on Azure DevOps",
      "azure",
      "",
      azurePush([{ name: "refs/heads/x", newObjectId: ZEROS }]),
      pushed(AZURE, "refs/heads/x", gone),
    ],
    ["a pull request of Azure DevOps", "azure", "", {
      ...azurePush(),
      eventType: "git.pullrequest.created",
    }, other(AZURE, "git.pullrequest.created")],
    ["an artifact", "oci", "", ociPush(), {
      kind: "artifact",
      artifact: "registry.example.org/acme/shop:v1",
      digest: `sha256:${"a".repeat(64)}`,
    }],
    ["an artifact without digest", "oci", "", ociPush({ digest: undefined }), {
      kind: "artifact",
      artifact: "registry.example.org/acme/shop:v1",
      digest: "",
    }],
  ];
  for (const [what, sender, event, payload, expected] of cases) {
    it(what, () => {
      const { headers, body } = signed(sender, { event, payload, secret: SECRET });
      assert.deepEqual(read(headers, body).event, expected);
    });
  }

  it("several references of one push", () => {
    const change = (type: string, name: string) => ({
      new: { type, name, target: { hash: COMMIT } },
    });
    const payload = bitbucketCloudPush([change("branch", "main"), change("tag", "v1")]);
    const { headers, body } = signed("bitbucket", { event: "repo:push", payload, secret: SECRET });
    const { event } = read(headers, body);
    assert.ok(event.kind === "push");
    assert.deepEqual(event.changes.map((each) => each.reference), [
      "refs/heads/main",
      "refs/tags/v1",
    ]);
  });

  it("a form whose field is the payload", () => {
    const form = new URLSearchParams({ payload: JSON.stringify(githubPush()) }).toString();
    const { headers } = signed("github", { event: "push", payload: form, secret: SECRET });
    const type = { "Content-Type": "application/x-www-form-urlencoded; charset=utf-8" };
    assert.deepEqual(read({ ...headers, ...type }, form).event, pushed(SHOP, "refs/heads/main"));
  });

  it("signed JSON as JSON, whatever an unsigned header says and a text in it looks like", () => {
    const hidden = encodeURIComponent(JSON.stringify(githubPush({ name: "evil/shop" })));
    const payload = { ...githubPush(), note: `&payload=${hidden}&x=` };
    const { headers, body } = signed("github", { event: "push", payload, secret: SECRET });
    const type = { "Content-Type": "application/x-www-form-urlencoded" };
    assert.deepEqual(read({ ...headers, ...type }, body).event, pushed(SHOP, "refs/heads/main"));
  });

  for (
    const payload of [
      ociPush({ source: "git" }),
      ociPush({ artifact: "" }),
      ociPush({ digest: "sha256:1" }),
    ]
  ) {
    it(`no artifact of ${JSON.stringify(payload).slice(0, 60)}`, () => {
      const { headers, body } = signed("oci", { event: "", payload, secret: SECRET });
      assert.equal(refusalOf(headers, body)[0], "bad_request");
    });
  }

  it("an event whose name is nonsense without repeating it", () => {
    const { headers, body } = signed("github", {
      event: "<canary>",
      payload: githubPush(),
      secret: SECRET,
    });
    assert.deepEqual(read(headers, body).event, {
      kind: "other",
      repository: SHOP,
      message: "event received, only pushes are deployed",
    });
  });
});
