import { errors } from "../model/mod.ts";
import { readArguments } from "./arguments.ts";
import { type Command, EXIT, type ListedCommand } from "./io.ts";

/** What the scripts ask for the names of stacks; it is in no help. */
const STACKS = "stacks";

/** The shells that have a script. */
const SHELLS = "bash zsh fish";

/** `stackwright completion`, which completes these commands. */
export const completionCommand = (commands: readonly ListedCommand[]): Command => ({
  help: `Usage: stackwright completion [--json] bash|zsh|fish

Prints a script for the shell, which completes the names of commands, their options, and the names
of stacks that the ledger in DATA_DIR knows. For the shell that runs:

  source <(stackwright completion bash)     # or zsh
  stackwright completion fish | source
`,
  async run(io) {
    const { json, operands: [shell = ""] } = readArguments(io.args, 1);
    if (shell === STACKS) {
      // The scripts alone, which each new shell asks for, need nothing of the service.
      const names = await (await import("./stack_names.ts")).stackNames(io);
      io.out(json ? `${JSON.stringify(names)}\n` : names.map((each) => `${each}\n`).join(""));
      return EXIT.ok;
    }
    const script = SCRIPTS[shell];
    if (script === undefined) {
      throw errors.bad_request(
        `completion is there for bash, zsh and fish${shell === "" ? "" : `, not for ${shell}`}; ` +
          "see --help",
      );
    }
    const text = script(commands);
    io.out(json ? `${JSON.stringify({ shell, script: text })}\n` : text);
    return EXIT.ok;
  },
});

/** Summaries hold neither quotes nor colons that a shell would take for its own. */
const quoted = (text: string) => `'${text.replaceAll("'", "")}'`;

/** The options of a command as they are typed. */
const optionsOf = ({ options = [] }: ListedCommand) =>
  ["help", "json", ...options].map((each) => `--${each}`).join(" ");

/** The commands whose operand is a stack, as a pattern of the shells. */
const ofStack = (commands: readonly ListedCommand[]) =>
  commands.filter((each) => each.ofStack).map(({ name }) => name).join("|");

/** Branches of a `case` of the shell with each command's options, which `use` makes a statement. */
const branches = (commands: readonly ListedCommand[], use: (options: string) => string) =>
  commands.map((each) => `    ${each.name}) ${use(optionsOf(each))} ;;\n`).join("");

const SCRIPTS: Readonly<Record<string, (commands: readonly ListedCommand[]) => string>> = {
  bash: (commands) =>
    `_stackwright() {
  local word="\${COMP_WORDS[COMP_CWORD]}" options="--help --json"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")}" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${branches(commands, (options) => `options="${options}"`)}  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")); return ;;
  esac
  case "\${COMP_WORDS[1]}" in
    completion) COMPREPLY=($(compgen -W "${SHELLS}" -- "$word")) ;;
    ${ofStack(commands)})
      COMPREPLY=($(compgen -W "$("\${COMP_WORDS[0]}" completion ${STACKS} 2>/dev/null)" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
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
  local -a options=(--help --json)
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  case "\${words[2]}" in
${branches(commands, (options) => `options=(${options})`)}  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then compadd -- $options; return; fi
  case "\${words[2]}" in
    completion) compadd ${SHELLS} ;;
    ${ofStack(commands)})
      compadd -- \${(f)"$(\${words[1]} completion ${STACKS} 2>/dev/null)"} ;;
    *) _files ;;
  esac
}
compdef _stackwright stackwright
`,
  fish: (commands) =>
    commands.map((command) => {
      const { name, summary, options = [] } = command;
      const after = `complete -c stackwright -n '__fish_seen_subcommand_from ${name}'`;
      const own = ["help", "json", ...options].map((each) => `${after} -l ${each}\n`).join("");
      return `complete -c stackwright -n __fish_use_subcommand -f -a ${name} -d ${
        quoted(summary)
      }\n${own}` +
        (command.ofStack
          ? `${after} -f -a '(stackwright completion ${STACKS} 2>/dev/null)'\n`
          : name === "completion"
          ? `${after} -f -a '${SHELLS}'\n`
          : "");
    }).join(""),
};
