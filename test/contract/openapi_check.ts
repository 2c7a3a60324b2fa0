import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  hasSchema,
  registerSchema,
  type SchemaObject,
  validate,
} from "@hyperjump/json-schema/openapi-3-2";

/** Schema of OpenAPI 3.2 documents as the OpenAPI Initiative publishes it, dialect included. */
const PUBLISHED = "https://spec.openapis.org/oas/3.2/schema-base";

type Document = { readonly [key: string]: unknown };

/** Checks responses against one OpenAPI document. */
export interface OpenApiCheck {
  /**
   * Leaves the response unread. Fails when it is not what the document says of its path, method, status and media type.
   * Paths that the document does not have are not looked at; returns whether it had one.
   */
  response(
    request: { readonly method: string; readonly path: string },
    response: Response,
  ): Promise<boolean>;
}

/** Fails when a document is no valid OpenAPI 3.2 document. */
export async function requireValidDocument(document: Document): Promise<void> {
  const result = await validate(PUBLISHED, plain(document), "BASIC");
  const errors = result.valid ? [] : (result.errors ?? []).slice(0, 5);
  assert.ok(result.valid, JSON.stringify(errors, undefined, 2));
}

/**
 * Makes a check. A document is known by what it says: the library looks at it as a whole when it is first
 * asked of it, which takes as long as a hundred answers.
 */
export function openApiCheck(document: Document): OpenApiCheck {
  const text = JSON.stringify(document);
  const uri = `https://check.test/${createHash("sha256").update(text).digest("hex")}`;
  if (!hasSchema(uri)) registerSchema(JSON.parse(text), uri, PUBLISHED);
  const paths = document["paths"] as Record<string, Record<string, Document>>;
  return {
    async response({ method, path }, response) {
      const template = Object.keys(paths).find((each) => matches(each, path));
      const verb = method.toLowerCase();
      const operation = template === undefined ? undefined : paths[template]?.[verb];
      if (template === undefined || operation === undefined) return false;
      const what = `${method} ${path} ${response.status}`;
      const responses = operation["responses"] as Record<string, Document>;
      const told = responses[String(response.status)];
      assert.ok(told, `${what}: the document does not have this status`);
      const type = (response.headers.get("content-type") ?? "").split(";")[0] ?? "";
      const content = told["content"] as Record<string, unknown> | undefined;
      assert.ok(content?.[type], `${what}: the document does not have ${type}`);
      const pointer = [
        "paths",
        template,
        verb,
        "responses",
        String(response.status),
        "content",
        type,
      ]
        .map((each) => each.replaceAll("~", "~0").replaceAll("/", "~1")).join("/");
      const body = await response.clone().json();
      const result = await validate(`${uri}#/${encodeURI(pointer)}/schema`, body, "BASIC");
      assert.ok(result.valid, `${what}: ${JSON.stringify(body)} is not as documented`);
      return true;
    },
  };
}

/** Whether a path is one of a template; of several templates the one without variables comes first. */
function matches(template: string, path: string): boolean {
  const [bare = ""] = path.split("?");
  const pattern = template.replaceAll(/\{\w+\}/g, "[^/]+");
  return new RegExp(`^${pattern}$`).test(bare);
}

function plain(document: Document): SchemaObject {
  return JSON.parse(JSON.stringify(document));
}
