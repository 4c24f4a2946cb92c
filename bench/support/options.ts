// The options of a bench: its sizes as numbers (--seconds 5), --quick for a small trial run, and --profile FOLDER.
import { parseArgs } from 'node:util'

export function sizes<T extends Record<string, number>>(
  usual: T,
  quick: Partial<T>,
): T & { profile: string | undefined } {
  const numbers = Object.fromEntries(Object.keys(usual).map(name => [name, { type: 'string' as const }]))
  const { values } = parseArgs({
    args: process.argv.slice(2),
    options: { ...numbers, quick: { type: 'boolean' }, profile: { type: 'string' } },
  })
  const given = Object.entries(values as Record<string, string | boolean | undefined>)
    .filter(([name]) => name in usual)
    .map(([name, value]) => [name, Number(value)])
  return {
    ...usual,
    ...(values.quick && quick),
    ...Object.fromEntries(given),
    profile: values.profile as string | undefined,
  }
}
