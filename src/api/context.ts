import * as z from "zod";
import { DEFAULT_CONTEXT, errors, stackKey, StackwrightError } from "../model/mod.ts";
import { deployedBy, type DeploymentsOfLedger, whyElsewhere } from "../record/mod.ts";
import type { Operation } from "./operation.ts";

/** The common parameter that selects the container context. */
export const contextInput = z.string().max(128).regex(/^(?:[a-zA-Z0-9][a-zA-Z0-9_.+-]*)?$/)
  .default(DEFAULT_CONTEXT).describe(
    "Container context; omitted, empty or `default` is the default one.",
  );

/** Parts that know contexts and their stacks. */
interface ContextParts {
  /** Names of the existing contexts, and of those with stacks. */
  readonly contexts: () => Promise<readonly string[]>;
  readonly ledger: DeploymentsOfLedger;
}

/**
 * Restricts an operation to existing contexts; a call that names another throws `bad_request`. Where
 * it finds nothing of a stack that another context of the same engine deploys, its error names that one.
 */
export function ofKnownContext<Output>(
  operation: Operation<Output>,
  { contexts, ledger }: ContextParts,
): Operation<Output> {
  return {
    ...operation,
    async call(input, call) {
      const asked = (input ?? {}) as Readonly<Record<string, unknown>>;
      const name = asked["name"] ?? asked["project_name"] ?? asked["stack_name"];
      const key = stackKey(textOf(asked["context"]), textOf(name));
      if (key.context !== DEFAULT_CONTEXT) await requireKnown(key.context, contexts);
      try {
        return await operation.call(input, call);
      } catch (error) {
        const isMissed = error instanceof StackwrightError &&
          (error.code === "not_found" || error.code === "conflict");
        if (!isMissed || key.name === "" || ledger.current(key) !== undefined) throw error;
        const other = deployedBy(ledger, key);
        const isSaid = other === undefined || error.message.includes(`context ${other}`);
        throw isSaid ? error : errors[error.code](whyElsewhere(ledger, key) ?? error.message);
      }
    },
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
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
