import * as z from "zod";
import { DEPLOYMENT_SECTIONS, deploymentSchema } from "../../src/config/deployment_schema.ts";
import { pollEntrySchema } from "../../src/config/poll_schema.ts";

/**
 * The reference of everything that can be configured in a repository and for polls, as Markdown
 * tables, made from the schemas the decoders read.
 */
export function configReference(): string {
  return [
    section("Deployment configuration", deploymentSchema),
    ...Object.entries(DEPLOYMENT_SECTIONS).map(([name, schema]) => section(`\`${name}\``, schema)),
    section("Poll entry", pollEntrySchema),
  ].join("\n");
}

function section(title: string, schema: z.ZodObject): string {
  const rows = Object.entries(schema.shape).map(([name, field]) => row(name, field));
  return [
    `### ${title}`,
    "",
    "| Field | Type | Default | Meaning |",
    "|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

function row(name: string, schema: unknown): string {
  const meta = schema instanceof z.ZodType ? schema.meta() : undefined;
  const fallback = meta?.["default"];
  const shown = fallback === undefined ? "" : `\`${JSON.stringify(fallback)}\``;
  const cells = [`\`${name}\``, typeText(schema), shown, meta?.description ?? ""];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** The values that a schema accepts, in words. */
function typeText(schema: unknown): string {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return typeText(schema.unwrap());
  }
  if (schema instanceof z.ZodUnknown) return "anything";
  if (schema instanceof z.ZodPipe) return "scalar";
  if (schema instanceof z.ZodUnion) return unionText(schema);
  if (schema instanceof z.ZodArray) return `list of ${typeText(schema.element)}`;
  if (schema instanceof z.ZodRecord) return `map of names to ${typeText(schema.valueType)}`;
  if (schema instanceof z.ZodObject) return "mapping";
  if (schema instanceof z.ZodBoolean) return "boolean";
  if (schema instanceof z.ZodNumber) return numberText(schema);
  return "text";
}

function unionText(schema: z.ZodUnion): string {
  const words = schema.options.find((option) => option instanceof z.ZodEnum);
  if (words !== undefined) {
    return words.options.filter((word) => word !== "").map((word) => `\`${word}\``).join(", ");
  }
  const parts = schema.options.map(typeText);
  return parts.some((part) => part.startsWith("whole number")) ? "duration" : parts.join(" or ");
}

function numberText(schema: z.ZodNumber): string {
  const least = schema.minValue;
  return least === null || least === undefined || least <= -(2 ** 53 - 1)
    ? "whole number"
    : `whole number ≥ ${least}`;
}
