import { NOT_YET, type NotYetRow } from "../../src/settings/not_yet_table.ts";
import { SETTINGS_TABLE } from "../../src/settings/settings_table.ts";

/** The table as Markdown, with the rules that hold for all of it. */
export function settingsReference(): string {
  const rows = SETTINGS_TABLE.map((setting) => {
    const names = [setting.name, ...(setting.file ? [`${setting.name}_FILE`] : [])];
    const also = setting.aliases.length > 0 ? ` Also ${code(setting.aliases)}.` : "";
    const fallback = setting.default === "" ? "" : code([setting.default]);
    return `| ${code(names)} | ${setting.type} | ${fallback} | ${setting.description}${also} |`;
  });
  return [
    "| Variable | Type | Default | Meaning |",
    "|---|---|---|---|",
    ...rows,
    "",
    "An empty value is the same as none. `X_FILE` names a file that holds the value of `X`; setting",
    "both is an error. Booleans are `true`, `t`, `1`, `false`, `f` or `0`.",
    "",
    "`DATA_DIR` is `/data` in the image; else `$STATE_DIRECTORY`; else `/var/lib/stackwright` for root;",
    "else `$XDG_STATE_HOME/stackwright` (`~/.local/state/stackwright`). It belongs to one `serve`: a",
    "second one on the same directory ends with exit code 78 and names the process of the first.",
    "Commands run beside the service. The lock ends with its process, however that ends; nothing has",
    "to be removed.",
    "",
    "## Not in this version",
    "",
    "These are known, but nothing acts on them yet. Those marked as an error keep Stackwright from",
    "starting while they are set, because it would deploy what they are there to hold back or change;",
    "the others are a warning at the start.",
    "",
    "| Variable | While set | Meaning |",
    "|---|---|---|",
    ...NOT_YET.map(notYetRow),
    "",
  ].join("\n");
}

function notYetRow(row: NotYetRow): string {
  const { name, file, flag, refused, missing } = row;
  const names = code([name, ...(file ? [`${name}_FILE`] : [])]);
  const isSwitch = flag ? " when true" : row.switchInside === true ? " with `enabled: true`" : "";
  const unless = row.harmless === undefined ? "" : ` unless ${code([row.harmless])}`;
  const reaction = `${refused ? "error" : "warning"}${isSwitch}${unless}`;
  return `| ${names} | ${reaction} | ${
    row.settled === true ? "Instead" : "Until then"
  }, ${missing}. |`;
}

function code(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(", ");
}
