import type { SecretStore } from "./secret_stores.ts";

/** The secret provider of the instance, with what it needs to work. Holds credentials: never log. */
export type SecretProviderOptions =
  | {
    readonly kind: "webhook";
    readonly stores: readonly SecretStore[];
    /** Values of `.auth` in the templates; absent ones are not set. */
    readonly auth: Readonly<Record<string, string>>;
  }
  | { readonly kind: "openbao"; readonly siteUrl: string; readonly accessToken: string }
  | {
    readonly kind: "infisical";
    readonly siteUrl: string;
    readonly clientId: string;
    readonly clientSecret: string;
  }
  | {
    readonly kind: "aws_sm";
    readonly region: string;
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    /** Address of the service; the public one of the region by default. */
    readonly siteUrl: string | undefined;
  }
  | {
    readonly kind: "azure_kv";
    readonly vaultUrl: string;
    readonly identity: AzureIdentity;
  }
  | { readonly kind: "1password"; readonly connectHost: string; readonly connectToken: string };

/** The options of one kind of provider. */
export type ProviderOptions<K extends SecretProviderOptions["kind"]> = Omit<
  Extract<SecretProviderOptions, { readonly kind: K }>,
  "kind"
>;

/** The identity for requests to Azure. */
export type AzureIdentity =
  | {
    readonly kind: "client";
    readonly authorityUrl: string;
    readonly tenantId: string;
    readonly clientId: string;
    readonly clientSecret: string;
  }
  | { readonly kind: "managed"; readonly clientId: string | undefined };

/** The secrets in the options of a provider. */
export function secretsOfProvider(options: SecretProviderOptions): readonly string[] {
  switch (options.kind) {
    case "webhook":
      return [...Object.values(options.auth), ...options.stores.flatMap(secretHeaders)];
    case "openbao":
      return [options.accessToken];
    case "infisical":
      return [options.clientSecret];
    case "aws_sm":
      return [options.secretAccessKey];
    case "azure_kv":
      return options.identity.kind === "client" ? [options.identity.clientSecret] : [];
    case "1password":
      return [options.connectToken];
  }
}

const SECRET_HEADER = /auth|token|key|secret|cookie|password/i;

/** Credentials in a store's headers: literal texts without the scheme, such as `Bearer`. */
function secretHeaders({ headers }: SecretStore): string[] {
  return headers.filter(({ name }) => SECRET_HEADER.test(name)).flatMap(({ value }) =>
    value.parts.flatMap((part) => {
      if (part.kind !== "text") return [];
      const text = part.text.replace(/^(?:Basic|Bearer|Token)\s*/i, "").trim();
      return text === "" ? [] : [text];
    })
  );
}
