import type { StackKey } from "../model/mod.ts";

/** Takes secrets out of a text about a stack before it is kept. */
export type RedactAbout = (text: string, key: StackKey) => string;
