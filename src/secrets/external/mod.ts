export { createAwsSecrets } from "./aws_sm.ts";
export { createAzureKeyVault } from "./azure_kv.ts";
export { createSecretProvider, type ProviderParts } from "./create_provider.ts";
export * from "./external_secrets.ts";
export type { SecretProvider, SecretReader } from "./provider.ts";
