/**
 * Files encrypted with SOPS: `sops.ts` decrypts them, with age in this process and with the `sops`
 * program for every other kind of key. `detect.ts` says what counts as encrypted.
 */
export { fileKind } from "./file_kind.ts";
export { createSops, type PlainFile, type SealedFile, type Sops } from "./sops.ts";
export { createSopsProgram, isOfKeyService, type SopsProgram } from "./sops_program.ts";
