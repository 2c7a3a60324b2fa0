import type { StackKey } from "../model/mod.ts";

/** Redacts secrets in a text about a stack before it is stored. */
export type RedactAbout = (text: string, key: StackKey) => string;
