import type { StackKey } from "../model/mod.ts";

/** Metric labels of a stack and the repository that it is deployed from. */
export function stackLabels({ name, context }: StackKey, repository: string) {
  return { repository, deployment: name, context };
}
