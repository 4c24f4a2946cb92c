// Completion in real shells, and how long a command takes to start.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { hasScript } from './support/program.ts'

const folder = mkdtempSync(join(tmpdir(), 'herald-completion-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const has = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0
const herald = (...argv: string[]) => execFileSync(process.execPath, ['bin/herald.js', ...argv], { encoding: 'utf8' })

/** What is typed, with the cursor at its end, and what must be offered. */
const ROWS: readonly (readonly [typed: string, offered: readonly string[], not: readonly string[]])[] = [
  ['herald serv', ['service'], ['key']],
  ['herald key ', ['create', 'list', 'revoke'], ['send']],
  ['herald key create x --t', ['--type'], ['--name']],
  ['herald key create x --type ', ['live', 'team', 'test'], ['create']],
  ['herald start --only ', ['http', 'engine'], ['service']],
  ['herald templates p', ['pull', 'push'], ['diff']],
  ['herald completion ', ['bash', 'zsh', 'fish'], ['service']],
]

describe('completion', () => {
  test('every command and every option is in each script', () => {
    const { commands } = JSON.parse(herald('--help', '--json'))
    for (const shell of ['bash', 'zsh', 'fish']) {
      const script = herald('completion', shell)
      for (const { command, options } of commands) {
        for (const word of command.split(' ')) expect(script).toContain(word)
        for (const { name } of options) expect(script).toMatch(new RegExp(`(--|-l )${name}\\b`))
      }
    }
    expect(spawnSync(process.execPath, ['bin/herald.js', 'completion', 'tcsh']).status).toBe(2)
  })

  test.skipIf(!has('bash'))('bash', () => {
    const script = join(folder, 'bash')
    writeFileSync(script, herald('completion', 'bash'))
    for (const [typed, offered, not] of ROWS) {
      const words = typed.split(' ')
      const ask = `source ${script}; COMP_WORDS=(${words.map(word => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _herald; printf '%s\\n' "\${COMPREPLY[@]}"`
      check(typed, execFileSync('bash', ['--norc', '-c', ask], { encoding: 'utf8' }), offered, not)
    }
  })

  test.skipIf(!has('fish'))('fish', () => {
    const script = join(folder, 'fish')
    writeFileSync(script, herald('completion', 'fish'))
    for (const [typed, offered, not] of ROWS) {
      const out = execFileSync('fish', ['--no-config', '-c', `source ${script}; complete -C '${typed}'`], {
        encoding: 'utf8',
      })
      check(typed, out.replaceAll(/\t.*/g, ''), offered, not)
    }
  })

  test.skipIf(!has('zsh'))('zsh reads the script and offers by _describe', () => {
    const script = join(folder, 'zsh')
    writeFileSync(script, herald('completion', 'zsh'))
    for (const [typed, offered, not] of ROWS.filter(([typed]) => !/ --[a-z]+ $/.test(typed))) {
      const words = typed.split(' ')
      const ask = [
        'compdef() { }; _files() { }',
        `_describe() { print -l -- "\${offers[@]%%:*}" | grep -- "^\${words[CURRENT]}"; }`,
        `source ${script}; words=(${words.map(word => `'${word}'`).join(' ')}); CURRENT=${words.length}; _herald`,
      ].join('\n')
      check(typed, execFileSync('zsh', ['-f', '-c', ask], { encoding: 'utf8' }), offered, not)
    }
  })
})

describe.skipIf(!has('zsh') || !hasScript)('zsh, as somebody types', () => {
  test('the Tab key completes a word, and lists words with their explanations', async () => {
    const script = join(folder, 'typed-zsh')
    writeFileSync(script, herald('completion', 'zsh'))
    const child = spawn('script', ['-qefc', 'stty cols 200 rows 50; exec zsh -f -i', '/dev/null'], {
      env: { PATH: process.env.PATH, TERM: 'xterm', HOME: folder },
    })
    let out = ''
    child.stdout.on('data', said => {
      out += String(said)
    })
    const shows = (text: RegExp) => expect.poll(() => out, { timeout: 20_000 }).toMatch(text)
    try {
      child.stdin.write(`autoload -Uz compinit && compinit -u -D; source ${script}; PROMPT='% '; echo READY''-NOW\n`)
      await shows(/READY-NOW/)
      out = ''
      child.stdin.write('herald serv\t')
      await shows(/herald service? ?/)
      child.stdin.write(' \u0015herald key \t')
      await shows(/create +-- Create an API key[\s\S]*list +-- List the keys[\s\S]*revoke +-- Revoke a key/)
      child.stdin.write('\u0015herald completion \t')
      await shows(/bash[\s\S]*fish[\s\S]*zsh|bash[\s\S]*zsh[\s\S]*fish/)
    } finally {
      child.kill('SIGKILL')
    }
  }, 60_000)
})

function check(typed: string, out: string, offered: readonly string[], not: readonly string[]) {
  const words = out.split('\n').map(word => word.trim())
  expect(words, typed).toEqual(expect.arrayContaining([...offered]))
  for (const word of not) expect(words, typed).not.toContain(word)
}

test('help, version and usage errors start in at most twice the time of node alone and 100 ms', () => {
  const best = (...argv: string[]) =>
    Math.min(
      ...Array.from({ length: 5 }, () => {
        const began = performance.now()
        spawnSync(process.execPath, argv, { stdio: 'ignore' })
        return performance.now() - began
      }),
    )
  const bare = best('-e', '0')
  for (const argv of [['--help'], ['--version'], ['nonsense'], ['completion', 'bash']])
    expect(best('bin/herald.js', ...argv), argv.join(' ')).toBeLessThan(2 * bare + 100)
})
