import { IMAGE } from "./world.ts";

/** A part of a compose file or of a deployment configuration. */
export type Part = Readonly<Record<string, unknown>>;

/** A service that runs for ever and ends at once when it is told to. */
export function service(more: Part = {}): Part {
  return { image: IMAGE, command: ["sleep", "100000"], stop_grace_period: "0s", ...more };
}

/** Text of a compose file; JSON is YAML. */
export function composeFile(services: Readonly<Record<string, Part>>, rest: Part = {}): string {
  return JSON.stringify({ services, ...rest }, undefined, 2);
}

/** Text of a configuration file with one document for each part. */
export function configFile(...documents: readonly Part[]): string {
  return documents.map((each) => JSON.stringify(each, undefined, 2)).join("\n---\n");
}
