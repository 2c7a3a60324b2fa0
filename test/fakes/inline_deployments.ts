import { readInlineDeployments } from "../../src/config/deployment.ts";
import type { DeploymentDocument } from "../../src/config/deployment_reader.ts";
import { locateJson } from "../../src/config/located_json.ts";
import { invalidInput, ProblemSink } from "../../src/config/problem_sink.ts";

/**
 * Reads inline configurations, a JSON array, by the rules of requests and polls. `where` names the
 * input in messages; paths of problems start with the index (`[1].build.no_cash`).
 *
 * Throws `config_invalid` with every problem.
 */
export function parseInlineDeployments(value: unknown, where: string): DeploymentDocument[] {
  const node = locateJson(value);
  const sink = new ProblemSink(where);
  if (node?.kind !== "list") {
    const problem = node === undefined ? "nested too deeply" : "expected a list of deployments";
    sink.add(undefined, "", problem);
    throw invalidInput(where, sink.problems);
  }
  const read = readInlineDeployments(
    node.items,
    (index) => new ProblemSink(where, { prefix: `[${index}]` }),
  );
  if (read.problems.length > 0) throw invalidInput(where, read.problems);
  return [...read.documents];
}
