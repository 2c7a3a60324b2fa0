import { errors } from "../model/mod.ts";
import { readArguments } from "./arguments.ts";
import { type Command, EXIT, type ListedCommand } from "./io.ts";

/** `stackwright completion`, which completes these commands. */
export const completionCommand = (commands: readonly ListedCommand[]): Command => ({
  help: `Usage: stackwright completion [--json] bash|zsh|fish

Prints a script for the shell, which completes the names of commands. For the shell that runs:

  source <(stackwright completion bash)     # or zsh
  stackwright completion fish | source
`,
  run(io) {
    const { json, operands: [shell = ""] } = readArguments(io.args, 1);
    const script = SCRIPTS[shell];
    if (script === undefined) {
      throw errors.bad_request(
        `completion is there for bash, zsh and fish${shell === "" ? "" : `, not for ${shell}`}; ` +
          "see --help",
      );
    }
    const text = script(commands);
    io.out(json ? `${JSON.stringify({ shell, script: text })}\n` : text);
    return Promise.resolve(EXIT.ok);
  },
});

/** Summaries hold neither quotes nor colons that a shell would take for its own. */
const quoted = (text: string) => `'${text.replaceAll("'", "")}'`;

const SCRIPTS: Readonly<Record<string, (commands: readonly ListedCommand[]) => string>> = {
  bash: (commands) =>
    `_stackwright() {
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")}" -- "\${COMP_WORDS[1]}"))
  else
    COMPREPLY=($(compgen -W "--help --json" -f -- "\${COMP_WORDS[COMP_CWORD]}"))
  fi
}
complete -o filenames -F _stackwright stackwright
`,
  zsh: (commands) =>
    `_stackwright() {
  local -a commands=(
${
      commands.map(({ name, summary }) =>
        `    ${quoted(`${name}:${summary.replaceAll(":", "\\:")}`)}`
      ).join("\n")
    }
  )
  if (( CURRENT == 2 )); then _describe command commands; else _files; fi
}
compdef _stackwright stackwright
`,
  fish: (commands) =>
    commands.map(({ name, summary }) =>
      `complete -c stackwright -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}\n`
    ).join(""),
};
