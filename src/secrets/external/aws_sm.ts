import type { ProviderOptions } from "../../config/mod.ts";
import { AwsV4Signer } from "aws4fetch";
import { Buffer } from "node:buffer";
import type { Clock, HttpClient, HttpRequest } from "../../system/mod.ts";
import { askJson, scalarText, statusReason, textAt } from "./ask_json.ts";
import { Memo, referenceText, type SecretProvider, unresolved } from "./provider.ts";
import { parseJson, valueAt } from "../../model/mod.ts";

const SHAPE = "the ARN of a secret, or ARN/key for a key of a JSON secret";

/** Most readings of one reference: each is a request, and the author chooses the number of slashes. */
const MOST_READINGS = 16;

/** Errors of AWS for names of no secret; a policy by name denies unknown names instead. */
const NOT_THIS_NAME = /ResourceNotFoundException|AccessDeniedException|ValidationException/;

/** Secrets of AWS Secrets Manager. */
export function createAwsSecrets(
  options: ProviderOptions<"aws_sm">,
  { http, clock }: { readonly http: HttpClient; readonly clock: Clock },
): SecretProvider {
  return {
    name: "aws_sm",
    open() {
      const secrets = new Memo<string | undefined>();
      const secret = (id: string, signal: AbortSignal, isLast: boolean) =>
        secrets.get(JSON.stringify([id, isLast]), async () => {
          const request = await signed(options, clock, id);
          const { status, value } = await askJson(http, request, { signal, expected: [400] });
          if (status === 200) return secretText(value);
          const kind = textAt(value, "__type") ?? "";
          if (!isLast && NOT_THIS_NAME.test(kind)) return undefined;
          throw unresolved(reasonOf(kind) ?? statusReason(status, request));
        });
      return {
        async read(reference, signal) {
          const readings = awsReadings(referenceText(reference, SHAPE));
          for (const [index, { id, key }] of readings.entries()) {
            const text = await secret(id, signal, index === readings.length - 1);
            if (text !== undefined) return key === undefined ? text : keyOf(text, key);
          }
          throw unresolved("there is no such secret");
        },
      };
    },
  };
}

/** Readings of a reference, as a name with slashes first; at most {@link MOST_READINGS}. */
function awsReadings(text: string): readonly { readonly id: string; readonly key?: string }[] {
  const start = text.startsWith("arn:") ? text.indexOf(":secret:") + ":secret:".length : 0;
  const readings: { id: string; key?: string }[] = [{ id: text }];
  for (let at = text.lastIndexOf("/"); at > start; at = text.lastIndexOf("/", at - 1)) {
    if (readings.length === MOST_READINGS) break;
    if (at < text.length - 1) readings.push({ id: text.slice(0, at), key: text.slice(at + 1) });
  }
  return readings;
}

async function signed(
  options: ProviderOptions<"aws_sm">,
  clock: Clock,
  id: string,
): Promise<HttpRequest> {
  const { region, accessKeyId, secretAccessKey } = options;
  const body = JSON.stringify({ SecretId: id });
  const signer = new AwsV4Signer({
    method: "POST",
    url: options.siteUrl ?? `https://secretsmanager.${region}.${domainOf(region)}/`,
    headers: {
      "content-type": "application/x-amz-json-1.1",
      "x-amz-target": "secretsmanager.GetSecretValue",
    },
    body,
    accessKeyId,
    secretAccessKey,
    region,
    service: "secretsmanager",
    datetime: clock.now().toISOString().replace(/[:-]|\.\d{3}/g, ""),
  });
  const { url, headers } = await signer.sign();
  return { method: "POST", url: url.href, headers: Object.fromEntries(headers), body };
}

function domainOf(region: string): string {
  return region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
}

function secretText(value: unknown): string {
  const text = textAt(value, "SecretString");
  if (text !== undefined) return text;
  const binary = textAt(value, "SecretBinary");
  if (binary === undefined) throw unresolved("the secret has no value");
  return Buffer.from(binary, "base64").toString("utf8");
}

function keyOf(text: string, key: string): string {
  const value = parseJson(text);
  if (value === undefined) throw unresolved(`the secret is not JSON, so it has no key ${key}`);
  return scalarText(valueAt(value, key), `key ${key} of the secret`);
}

/** The reason in an error of AWS, by its type: most errors have status 400. */
function reasonOf(kind: string): string | undefined {
  const name = kind.slice(kind.lastIndexOf("#") + 1);
  switch (name) {
    case "ResourceNotFoundException":
      return "there is no such secret (ResourceNotFoundException)";
    case "AccessDeniedException":
      return "the credentials may not read it (AccessDeniedException)";
    case "UnrecognizedClientException":
    case "InvalidSignatureException":
    case "IncompleteSignatureException":
      return `AWS does not accept the credentials (${name})`;
    default:
      return /^[A-Za-z]{1,60}$/.test(name) ? `AWS refuses the request (${name})` : undefined;
  }
}
