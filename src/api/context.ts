import * as z from "zod";
import { DEFAULT_CONTEXT, type StackKey, stackKey, StackwrightError } from "../model/mod.ts";

/** The common parameter that selects the container context. */
export const contextInput = z.string().meta({ pattern: "^(?:[Dd][Ee][Ff][Aa][Uu][Ll][Tt])?$" })
  .default(DEFAULT_CONTEXT).describe(
    "Container context; omitted, empty or `default` is the default one, and there is no other yet.",
  );

/**
 * The key of a stack in a context that exists. Other contexts than the default one come later; until
 * then none of them exists.
 *
 * Throws `bad_request` for an unknown context.
 */
export function stackKeyOf(context: string, name: string): StackKey {
  const key = stackKey(context, name);
  if (key.context === DEFAULT_CONTEXT) return key;
  throw new StackwrightError("bad_request", `unknown context: ${key.context}`);
}
