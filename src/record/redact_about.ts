import type { StackKey } from "../model/mod.ts";

/**
 * Redacts secrets in a text about a stack before it is stored; one that is part of a routine by what is
 * known already, see `redactKnown` of the redactor.
 */
export type RedactAbout = (text: string, key: StackKey, isRoutine?: boolean) => string;
