import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stackKey } from "../../../src/model/mod.ts";
import { stillThere } from "../../../src/pipeline/destroy/still_there.ts";
import type { PipelineParts } from "../../../src/pipeline/parts.ts";

const revision = { id: "1", reference: "refs/heads/main", source: { name: "apps" } };
const { signal } = new AbortController();

/** What is told of `apps/shop`, where the repository has these files, links and submodules. */
function told(
  there: Readonly<Record<string, string>>,
  deployments: readonly unknown[] = [],
  { repository = "apps", workingDir = "." } = {},
) {
  const source = {
    entries: (_: unknown, paths: readonly string[]) => {
      const kindOf = (path: string) =>
        there[path] ??
          (Object.keys(there).some((each) => each.startsWith(`${path}/`)) && "directory");
      const found = paths.flatMap((path) => {
        const kind = kindOf(path);
        return kind ? [[path, { kind }] as const] : [];
      });
      return Promise.resolve(new Map(found));
    },
    list: () =>
      Promise.resolve(new Map(Object.entries(there).map(([path, kind]) => [path, { kind }]))),
  };
  const expansion = {
    scans: [{ base: { deployment: { workingDir } }, revision }],
    deployments,
  } as unknown as Parameters<
    typeof stillThere
  >[2];
  const stack = { repository, directory: "apps/shop", files: ["docker/stack.compose"] };
  return stillThere({ source } as unknown as PipelineParts, stack, expansion, signal);
}

describe("stillThere()", () => {
  const rows:
    readonly (readonly [what: string, there: Readonly<Record<string, string>>, told?: RegExp])[] = [
      ["it is gone", { "apps/other/compose.yaml": "file" }],
      ["its directory is a link", { "apps/shop": "symlink" }, /^apps\/shop is a symlink now/],
      [
        "its directory is a submodule",
        { "apps/shop": "submodule" },
        /^apps\/shop is a submodule now/,
      ],
      ["one above is a link", { "apps": "symlink" }, /^apps is a symlink now/],
      ["a file has its name", { "apps/shop": "file" }],
      [
        "its compose file has another name",
        { "apps/shop/app.yml": "file" },
        /^apps\/shop\/app.yml is still there/,
      ],
      ["only an override is there", {
        "apps/shop/.stackwright.yaml": "file",
        "apps/shop/notes": "file",
      }],
      [
        "the file by which it was found is",
        { "apps/shop/docker/stack.compose": "file" },
        /^apps\/shop\/docker\/stack.compose is still there/,
      ],
      ["one below it has such a file", { "apps/shop/conf/app.yaml": "file" }],
    ];
  for (const [what, there, words] of rows) {
    it(`tells ${words === undefined ? "nothing" : "what is there"} where ${what}`, async () => {
      assert.match(await told(there) ?? "", words ?? /^$/);
    });
  }

  it("tells nothing of a submodule in which the discovery looks", async () => {
    const there = { "apps": "submodule" };
    assert.notEqual(await told(there), undefined);
    assert.equal(await told(there, [], { workingDir: "apps" }), undefined);
    const link = { ...there, "apps/shop": "symlink" };
    assert.match(await told(link, [], { workingDir: "apps/" }) ?? "", /^apps\/shop is a symlink/);
    assert.equal(await told(link, [], { workingDir: "infra" }), undefined);
  });

  it("tells nothing where another stack is found there, or of another repository", async () => {
    const there = { "apps/shop/compose.yaml": "file" };
    assert.notEqual(await told(there), undefined);
    const stack = { key: stackKey("", "new"), directory: "apps/shop", repository: "apps" };
    assert.equal(await told(there, [{ found: { stack } }]), undefined);
    assert.equal(await told(there, [], { repository: "other" }), undefined);
  });
});
