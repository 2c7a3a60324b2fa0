/**
 * Secrets that are not written down in the clear: those that a store has and a deployment only
 * refers to, below `external/`, and files encrypted with SOPS, below `sops/`. What is resolved or
 * decrypted goes to whoever asked and to the redactor, never to a log or an error.
 */
export * from "./external/mod.ts";
export * from "./sops/mod.ts";
