import { createHash, createHmac } from "node:crypto";
import {
  type JsonReply,
  type JsonServer,
  type SeenRequest,
  startJsonServer,
} from "./json_server.ts";

/** A Secrets Manager that checks the signature of each request by itself. */
export interface AwsSecretsServer extends JsonServer {
  /** Writes a secret: its answer without name, such as `SecretString`. */
  write(arn: string, value: Readonly<Record<string, unknown>>): void;
}

/** Who may ask it. */
export interface AwsSecretsServerOptions {
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Starts a Secrets Manager on loopback. */
export async function startAwsSecretsServer(
  options: AwsSecretsServerOptions,
): Promise<AwsSecretsServer> {
  const secrets = new Map<string, Readonly<Record<string, unknown>>>();
  const server = await startJsonServer((request) => {
    if (!isSigned(request, options)) return refusal("InvalidSignatureException");
    if (request.headers["x-amz-target"] !== "secretsmanager.GetSecretValue") {
      return refusal("UnknownOperationException");
    }
    const value = secrets.get(JSON.parse(request.body).SecretId);
    return value === undefined ? refusal("ResourceNotFoundException") : { status: 200, value };
  });
  return { ...server, write: (arn, value) => void secrets.set(arn, value) };
}

function refusal(kind: string): JsonReply {
  return { status: 400, value: { __type: kind, message: "refused" } };
}

/** Signature version 4, as the service computes it again from what arrived. */
function isSigned(request: SeenRequest, options: AwsSecretsServerOptions): boolean {
  const { headers, method, url, body } = request;
  const given =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/secretsmanager\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/
      .exec(headers["authorization"] ?? "");
  if (given === null) return false;
  const [, keyId, date = "", region = "", signedNames = "", signature] = given;
  if (keyId !== options.accessKeyId || region !== options.region) return false;
  const names = signedNames.split(";");
  if (!names.includes("host") || !names.includes("x-amz-date")) return false;
  const canonical = [
    method,
    url.pathname,
    url.search.slice(1),
    ...names.map((name) => `${name}:${(headers[name] ?? "").trim()}`),
    "",
    signedNames,
    sha256(body),
  ].join("\n");
  const scope = `${date}/${region}/secretsmanager/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, sha256(canonical)].join("\n");
  const key = [date, region, "secretsmanager", "aws4_request"].reduce(
    (secret: string | Uint8Array, part) => hmac(secret, part),
    `AWS4${options.secretAccessKey}`,
  );
  return createHmac("sha256", key).update(text).digest("hex") === signature;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function hmac(key: string | Uint8Array, text: string): Uint8Array {
  return createHmac("sha256", key).update(text).digest();
}
