import * as z from "zod";
import { DEFAULT_CONTEXT, errors, stackKey } from "../model/mod.ts";
import type { Operation } from "./operation.ts";

/** The common parameter that selects the container context. */
export const contextInput = z.string().max(128).regex(/^(?:[a-zA-Z0-9][a-zA-Z0-9_.+-]*)?$/)
  .default(DEFAULT_CONTEXT).describe(
    "Container context; omitted, empty or `default` is the default one.",
  );

/** Restricts an operation to existing contexts; a call that names another throws `bad_request`. */
export function ofKnownContext<Output>(
  operation: Operation<Output>,
  contexts: () => Promise<readonly string[]>,
): Operation<Output> {
  return {
    ...operation,
    async call(input, call) {
      const { context: asked } = (input ?? {}) as { readonly context?: unknown };
      const { context } = stackKey(typeof asked === "string" ? asked : "", "");
      if (context !== DEFAULT_CONTEXT) await requireKnown(context, contexts);
      return await operation.call(input, call);
    },
  };
}

async function requireKnown(context: string, contexts: () => Promise<readonly string[]>) {
  const names = await contexts();
  if (names.includes(context)) return;
  const message = `use one of ${[...new Set(names)].join(", ")}`;
  throw errors.bad_request(`unknown context: ${context}`, {
    told: "unknown context",
    problems: [{ file: "input", path: "context", message }],
  });
}
