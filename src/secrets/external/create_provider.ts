import type { SecretProviderOptions } from "../../config/mod.ts";
import type { Clock, HttpClient } from "../../system/mod.ts";
import { createAwsSecrets } from "./aws_sm.ts";
import { createAzureKeyVault } from "./azure_kv.ts";
import { createInfisical } from "./infisical.ts";
import { createOnePassword } from "./onepassword.ts";
import { createOpenBao } from "./openbao.ts";
import { patientHttp } from "./patient_http.ts";
import type { SecretProvider } from "./provider.ts";
import { createWebhookStores } from "./webhook.ts";

interface ProviderParts {
  readonly http: HttpClient;
  readonly clock: Clock;
  /** Between 0 and 1, for pauses that do not coincide. */
  readonly random: () => number;
}

/** The provider that the settings choose. */
export function createSecretProvider(
  options: SecretProviderOptions,
  { http: impatient, clock, random }: ProviderParts,
): SecretProvider {
  const http = patientHttp(impatient, { clock, random });
  switch (options.kind) {
    case "webhook":
      return createWebhookStores(options, http);
    case "openbao":
      return createOpenBao(options, http);
    case "infisical":
      return createInfisical(options, { http, clock });
    case "aws_sm":
      return createAwsSecrets(options, { http, clock });
    case "azure_kv":
      return createAzureKeyVault(options, { http, clock });
    case "1password":
      return createOnePassword(options, http);
  }
}
