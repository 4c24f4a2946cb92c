// herald completion: scripts for bash, zsh and fish, generated from the table of commands. A shell that has read one completes
// without calling herald.
import type { Command, CommandEntry } from './command.ts'
import { table } from './table.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

export const commands: readonly Command[] = [
  {
    noun: 'completion',
    args: [{ name: 'SHELL', choices: SHELLS, sentence: 'bash, zsh or fish.' }],
    sentence: 'Print a script that completes commands and options in a shell.',
    more: 'Put the line of the example into the start file of the shell: ~/.bashrc, ~/.zshrc (after compinit), ~/.config/fish/config.fish.',
    examples: [
      'source <(herald completion bash)',
      'source <(herald completion zsh)',
      'herald completion fish | source',
    ],
    run: async (_io, input) => {
      const shell = input.text('SHELL') as Shell
      const script = SCRIPTS[shell](table).join('\n')
      return { text: script, data: { shell, script } }
    },
  },
]

/** A word that is offered, with its explanation. */
type Offer = { word: string; sentence: string }

const nounsOf = (all: readonly CommandEntry[]): Offer[] =>
  [...new Set(all.map(({ noun }) => noun))].map(noun => {
    const verbs = verbsOf(all, noun).map(({ word }) => word)
    const only = all.find(entry => entry.noun === noun)
    return { word: noun, sentence: verbs.length > 0 ? verbs.join(', ') : (only?.sentence ?? '') }
  })

const verbsOf = (all: readonly CommandEntry[], noun: string): Offer[] =>
  all.flatMap(({ verb, sentence, ...entry }) =>
    entry.noun === noun && verb !== undefined ? { word: verb, sentence } : [],
  )

const nounsWithVerbs = (all: readonly CommandEntry[]): string[] => [
  ...new Set(all.flatMap(({ noun, verb }) => (verb === undefined ? [] : noun))),
]

const optionsOf = ({ options = [] }: CommandEntry): Offer[] => [
  ...options.map(({ name, sentence }) => ({ word: `--${name}`, sentence })),
  { word: '--json', sentence: 'Print one JSON document.' },
  { word: '--help', sentence: 'Explain the command.' },
]

/** Words for an argument of the command, such as the shell of this command. */
const argumentsOf = ({ args = [] }: CommandEntry): Offer[] =>
  args.flatMap(({ choices = [], sentence }) => choices.map(word => ({ word, sentence })))

/** Options with a value, and the words that it can be; none: a name, or a file. */
const valuesOf = ({ options = [] }: CommandEntry) =>
  options.flatMap(({ name, value, choices = [] }) =>
    value === undefined ? [] : { option: `--${name}`, words: choices },
  )

const SCRIPTS: Readonly<Record<Shell, (all: readonly CommandEntry[]) => string[]>> = { bash, zsh, fish }

/** Pattern of a `case` for the words `NOUN VERB`; a command without a verb may have anything in its place. */
const pattern = ({ noun, verb }: CommandEntry) => (verb === undefined ? `'${noun} '*` : `'${noun} ${verb}'`)

/** Sets `noun` and `verb` from the words before the cursor. */
const FIND_COMMAND = [
  '    [[ $word == -* ]] && continue',
  '    if [[ -z $noun ]]; then noun=$word; elif [[ -z $verb ]]; then verb=$word; fi',
  '  done',
]

function bash(all: readonly CommandEntry[]): string[] {
  const words = (offers: readonly Offer[]) => `words='${offers.map(({ word }) => word).join(' ')}'`
  return [
    '# Completion of herald for bash: source <(herald completion bash)',
    '_herald() {',
    `  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} noun='' verb='' words='' word`,
    `  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do`,
    ...FIND_COMMAND,
    '  COMPREPLY=()',
    '  case "$noun $verb $prev" in',
    ...all.flatMap(entry =>
      valuesOf(entry).map(
        ({ option, words: known }) =>
          `    ${pattern(entry)}' ${option}') COMPREPLY=($(compgen -W '${known.join(' ')}' -- "$cur")); return ;;`,
      ),
    ),
    '  esac',
    '  case "$noun $verb" in',
    `    ' ') ${words(nounsOf(all))} ;;`,
    ...nounsWithVerbs(all).map(noun => `    '${noun} ') ${words(verbsOf(all, noun))} ;;`),
    ...all.map(entry => `    ${pattern(entry)}) ${words([...argumentsOf(entry), ...optionsOf(entry)])} ;;`),
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$cur"))',
    '}',
    '# Where nothing fits, files are completed.',
    'complete -o default -F _herald herald',
  ]
}

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

function zsh(all: readonly CommandEntry[]): string[] {
  const list = (offers: readonly Offer[]) =>
    `offers=(${offers.map(({ word, sentence }) => quoted(`${word}:${sentence}`)).join(' ')})`
  return [
    '#compdef herald',
    '# Completion of herald for zsh: source <(herald completion zsh), after compinit',
    '_herald() {',
    "  local prev=$words[CURRENT-1] noun='' verb='' word",
    '  local -a offers',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
    '  for word in ${words[2,CURRENT-1]}; do',
    ...FIND_COMMAND,
    '  case "$noun $verb $prev" in',
    ...all.flatMap(entry =>
      valuesOf(entry).map(({ option, words }) => {
        const offer = words.length > 0 ? `compadd -- ${words.join(' ')}` : '_files'
        return `    ${pattern(entry)}' ${option}') ${offer}; return ;;`
      }),
    ),
    '  esac',
    '  case "$noun $verb" in',
    `    ' ') ${list(nounsOf(all))} ;;`,
    ...nounsWithVerbs(all).map(noun => `    '${noun} ') ${list(verbsOf(all, noun))} ;;`),
    ...all.map(entry => `    ${pattern(entry)}) ${list([...argumentsOf(entry), ...optionsOf(entry)])} ;;`),
    '  esac',
    "  _describe 'herald' offers || _files",
    '}',
    'compdef _herald herald',
  ]
}

function fish(all: readonly CommandEntry[]): string[] {
  const escaped = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const offered = (condition: string, { word, sentence }: Offer) =>
    `complete -c herald -f -n '${condition}' -a ${word} -d ${escaped(sentence)}`
  return [
    '# Completion of herald for fish: herald completion fish | source',
    'function __herald_words',
    "    string match -v -- '-*' (commandline -opc)[2..]",
    'end',
    'function __herald_is',
    '    set -l words (__herald_words)',
    '    test "$words" = "$argv"',
    'end',
    'function __herald_in',
    '    set -l words (__herald_words)',
    '    set -l most (count $argv)',
    '    test (count $words) -ge $most; and test "$words[1..$most]" = "$argv"',
    'end',
    'complete -c herald -e',
    ...nounsOf(all).map(offer => offered('__herald_is', offer)),
    ...nounsWithVerbs(all).flatMap(noun => verbsOf(all, noun).map(offer => offered(`__herald_is ${noun}`, offer))),
    ...all.flatMap(entry => {
      const place = `__herald_in ${entry.noun}${entry.verb === undefined ? '' : ` ${entry.verb}`}`
      const { options = [] } = entry
      return [
        ...argumentsOf(entry).map(offer => offered(place, offer)),
        ...options.map(({ name, value, choices, sentence }) => {
          const takes = value === undefined ? '' : choices ? ` -x -a '${choices.join(' ')}'` : ' -r'
          return `complete -c herald -n '${place}' -l ${name}${takes} -d ${escaped(sentence)}`
        }),
        `complete -c herald -n '${place}' -l json -d 'Print one JSON document.'`,
        `complete -c herald -n '${place}' -l help -d 'Explain the command.'`,
      ]
    }),
  ]
}
