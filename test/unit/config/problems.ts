import assert from "node:assert/strict";
import {
  formatProblem,
  isStackwrightError,
  type StackwrightError,
} from "../../../src/model/mod.ts";
import { type DeploymentDocument, parseDeployments } from "../../../src/config/mod.ts";

/** The error that `action` throws; fails when it throws none, or one that is not ours. */
export function errorOf(action: () => unknown): StackwrightError {
  try {
    action();
  } catch (error) {
    assert.ok(isStackwrightError(error), `not our error: ${error}`);
    return error;
  }
  assert.fail("nothing was thrown");
}

/** Every problem that `action` reports, as lines. */
export function problemsOf(action: () => unknown): string[] {
  return errorOf(action).problems.map(formatProblem);
}

/** Reads a repository file that holds one document. */
export function parseOne(text: string, trusted = false): DeploymentDocument {
  const documents = parseDeployments(text, { file: "f.yaml", trusted });
  assert.equal(documents.length, 1);
  return documents[0] as DeploymentDocument;
}
