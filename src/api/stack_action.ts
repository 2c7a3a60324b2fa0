import type * as z from "zod";
import { type StackKey, stackKey } from "../model/mod.ts";
import { audited } from "./audit.ts";
import { type Call, defineOperation, type Operation, type OperationFacts } from "./operation.ts";
import type { stackInput } from "./stack_parts.ts";

/** The facts of an action, and what the audit log calls it: `roll back`. */
interface ActionFacts<Schema extends z.ZodType, Output>
  extends Omit<OperationFacts<Output>, "tag" | "power"> {
  readonly action: string;
  readonly input: Schema;
}

/** Makes an operation that changes one stack. Calls are audited, with the reason that they give. */
export function stackAction<
  Schema extends z.ZodType<z.output<typeof stackInput> & { readonly reason?: string }>,
  Output,
>(
  { action, ...facts }: ActionFacts<Schema, Output>,
  handler: (key: StackKey, input: z.output<Schema>, call: Call) => Promise<Output> | Output,
): Operation<Output> {
  return defineOperation({ ...facts, tag: "Deployments", power: "act" }, (input, call) => {
    const { context, name, reason } = input;
    const key = stackKey(context, name);
    const more = reason === undefined ? {} : { more: { reason } };
    return audited(call, { action, what: "stack", key, ...more }, () => handler(key, input, call));
  });
}
