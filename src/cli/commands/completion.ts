import { Argument, Command } from 'commander';
import type { CliIo } from '../cli-io.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

const EXAMPLES = `
Examples:
  source <(vramscope completion bash)
  vramscope completion zsh > "\${fpath[1]}/_vramscope"
  vramscope completion fish > ~/.config/fish/completions/vramscope.fish
`;

/** What can be typed after a command: its options, and the words that an option takes. */
interface Words {
  readonly name: string;
  readonly about: string;
  readonly options: readonly { readonly flag: string; readonly about: string }[];
}

export function completionCommand(io: CliIo): Command {
  return new Command('completion')
    .description('print a script that completes vramscope’s commands and options in your shell')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .addHelpText('after', EXAMPLES)
    .action((shell: Shell, _options: object, command: Command) => {
      const program = command.parent ?? command;
      io.writeOut(SCRIPTS[shell](wordsOf(program), program.commands.map(wordsOf)));
    });
}

function wordsOf(command: Command): Words {
  const options = command.createHelp().visibleOptions(command);
  return {
    name: command.name(),
    about: command.description(),
    options: options.map(({ long, short, description }) => ({
      flag: long ?? short ?? '',
      about: description,
    })),
  };
}

const flags = ({ options }: Words): string => options.map(({ flag }) => flag).join(' ');

const SCRIPTS: Readonly<Record<Shell, (program: Words, commands: readonly Words[]) => string>> = {
  bash: (program, commands) => `_vramscope() {
  local word=\${COMP_WORDS[COMP_CWORD]} words="${flags(program)}"
  if [ "$COMP_CWORD" -eq 1 ]; then words="$words ${commands.map(({ name }) => name).join(' ')}"; fi
  case \${COMP_WORDS[1]} in
${commands.map((command) => `    ${command.name}) words="${flags(command)}" ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word"))
}
complete -o filenames -F _vramscope vramscope
`,
  zsh: (program, commands) => `#compdef vramscope
local -a commands
commands=(${commands.map(({ name, about }) => quoted(`${name}:${about}`)).join(' ')})
if (( CURRENT == 2 )); then _describe command commands; fi
case $words[2] in
${commands.map((command) => `  ${command.name}) compadd -- ${flags(command)} ;;`).join('\n')}
  *) compadd -- ${flags(program)} ;;
esac
_files
`,
  fish: (program, commands) =>
    [
      ...commands.map(
        ({ name, about }) =>
          `complete -c vramscope -n __fish_use_subcommand -a ${name} -d ${quoted(about)}`,
      ),
      ...fishOptions('__fish_use_subcommand', program),
      ...commands.flatMap((command) =>
        fishOptions(`'__fish_seen_subcommand_from ${command.name}'`, command),
      ),
      '',
    ].join('\n'),
};

function fishOptions(condition: string, { options }: Words): string[] {
  return options.map(({ flag, about }) => {
    const option = flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`;
    return `complete -c vramscope -n ${condition} ${option} -d ${quoted(about)}`;
  });
}

/** In single quotes; a quote inside ends them, is escaped, and begins them again. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
