export { createAzureKeyVault } from "./azure_kv.ts";
export { createSecretProvider } from "./create_provider.ts";
export * from "./external_secrets.ts";
export type { SecretProvider } from "./provider.ts";
