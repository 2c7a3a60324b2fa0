/** Files encrypted with SOPS, decrypted with age in this process, or by the `sops` program. */
export { fileKind } from "./file_kind.ts";
export { createSops, type PlainFile, type SealedFile, type Sops } from "./sops.ts";
export { createSopsProgram, isOfKeyService, type SopsProgram } from "./sops_program.ts";
