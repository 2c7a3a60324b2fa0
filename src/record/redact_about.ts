import type { StackKey } from "../model/mod.ts";

/**
 * Redacts secrets in a text about a stack, or a source, before it is stored; one that is part of a
 * routine by what is known already, see `redactKnown` of the redactor.
 */
export type RedactAbout = (
  text: string,
  about: StackKey | { readonly source: string },
  isRoutine?: boolean,
) => string;
