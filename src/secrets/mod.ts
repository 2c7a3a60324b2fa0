/**
 * Secrets that are not written down in the clear: files encrypted with SOPS, below `sops/`. What
 * is decrypted goes to whoever asked and to the redactor, never to a log or an error.
 */
export * from "./sops/mod.ts";
