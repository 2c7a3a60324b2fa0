import * as z from "zod";
import type { SecretReference } from "../model/mod.ts";
import { decode } from "./decode.ts";
import { secretReferences } from "./deployment_options.ts";
import { secretReferenceSchema } from "./secret_reference_schema.ts";
import { parseLocatedYaml } from "./located_yaml.ts";
import { invalidInput, ProblemSink } from "./problem_sink.ts";

/**
 * Reads a file of `external_secrets_files`: a mapping as in `external_secrets`. An empty one is none.
 *
 * Throws `config_invalid` with every problem and its position.
 */
export function parseSecretFile(
  text: string,
  file: string,
): Readonly<Record<string, SecretReference>> {
  const [first, second] = parseLocatedYaml(text, file);
  const sink = new ProblemSink(file);
  if (first?.root.kind !== "map" || second !== undefined) {
    sink.add(second?.root.at ?? first?.root.at, "", "expected one mapping of variables to secrets");
    throw invalidInput(file, sink.problems);
  }
  const { value } = decode(z.record(z.string(), secretReferenceSchema), first.root, sink);
  if (!sink.clean) throw invalidInput(file, sink.problems);
  return secretReferences(value);
}
