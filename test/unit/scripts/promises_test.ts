import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { chosenStages, testSteps } from "../../../scripts/lib/test_stages.ts";

const ROOT = join(import.meta.dirname ?? "", "../../..");

/** Tests of each promise of docs/security.md, by its first words, that ./scripts/test runs without `all`. */
const PROMISES: Readonly<Record<string, readonly string[]>> = {
  "Run a program as Stackwright": ["flow/steered_programs", "e2e/hostile_repository"],
  "Read files of Stackwright or its host": ["flow/path_safety", "e2e/confined_rendering"],
  "Write outside of its own directories": ["flow/brought_links", "unit/deploy/stack_files"],
  "Take over another repository's stack": [
    ...["flow/ended_by_hand_over", "flow/left_things", "flow/ownership"],
    ...["flow/other_repository", "flow/separate_authors"],
  ],
  "Have Stackwright replace or remove itself": ["flow/own_project", "e2e/own_container"],
  "Read Stackwright's copies of other repositories": [
    ...["contract/source/git_access", "contract/source/git_commit_ids"],
  ],
  "Have a credential sent to a host": ["contract/source/git_remote"],
  "Be deployed in the name of another repository": ["unit/source/source_name", "flow/webhooks"],
  "Change what is shown about others": ["flow/canary_owners", "flow/words_of_others"],
  "Get a secret out through Stackwright": ["flow/canaries", "flow/shown_digests", "e2e/secrets"],
  "Stop the service with what a file says": ["unit/hostile_texts", "unit/saturated_projects"],
  "Two managers of one engine": ["flow/others_containers", "flow/others_volumes"],
  "Others get their turn": [
    "flow/silent_builds",
    "flow/silent_registry",
    "flow/silent_remotes",
    "flow/start_first",
  ],
  "Mounts of the data directory": ["flow/kept_release", "unit/prepare/real_mounts"],
  "Mounts below a directory": ["flow/linked_jobs", "flow/links_meanwhile"],
};

describe("the promises of docs/security.md", () => {
  it("are each tried without `all`", () => {
    const text = readFileSync(join(ROOT, "docs/security.md"), "utf8");
    const [, mayNever = "", guards = ""] = text.split(
      /^## (?=What a repository may|What guards|What is outside)/m,
    );
    const promises = [...(mayNever + guards).matchAll(/^- \*\*([^*]+)/gm)]
      .map(([, words = ""]) => words.replaceAll(/\s+/g, " "));
    const known = Object.keys(PROMISES);
    const told = promises.map((each) => known.find((words) => each.startsWith(words)) ?? each);
    assert.deepEqual(told, known);
    const short = chosenStages(testSteps(ROOT).flat(), [])
      .flatMap(({ argv, together = [] }) => [...argv, ...together]);
    const isThere = (file: string) =>
      short.includes(`test/${file}_test.ts`) ||
      short.includes("test/contract") && file.startsWith("contract/") &&
        existsSync(join(ROOT, `test/${file}_test.ts`));
    assert.deepEqual(Object.values(PROMISES).flat().filter((file) => !isThere(file)), []);
  });
});
