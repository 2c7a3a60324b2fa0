/**
 * Secrets that are not written down in the clear: the external ones, which a store has and a
 * deployment only refers to, below `external/`. What is resolved goes to whoever asked and to the
 * redactor, never to a log or an error.
 */
export * from "./external/mod.ts";
