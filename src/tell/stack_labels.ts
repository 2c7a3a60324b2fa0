import type { StackKey } from "../model/mod.ts";

/** Labels of a series about one stack and the repository that it is from. */
export function stackLabels({ name, context }: StackKey, repository: string) {
  return { repository, deployment: name, context };
}
