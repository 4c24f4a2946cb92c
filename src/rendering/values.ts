// Values of a caller: what a list may contain, and how values are stored.
import { decimal } from '../core/number.ts'
import { keyOf, type Values } from './placeholders.ts'

/** A list contains strings and numbers (and null and booleans, which are dropped), not lists or objects (contract 22.9). */
export function itemProblem(name: string, value: unknown): string[] {
  const isNested = Array.isArray(value) && value.some(item => typeof item === 'object' && item !== null)
  return isNested ? [`personalisation ${name} items must be strings or numbers`] : []
}

/**
 * The values in a form that survives JSON, which reorders integer-like names and has no integers beyond 2^53: of several spellings
 * of one name only the last is kept, and a large integer becomes a string.
 */
export function storable(values: Values): Values {
  const entries = Object.entries(values)
  const isReordered = entries.some(([name]) => /^\d+$/.test(name))
  if (!isReordered && !entries.some(([, value]) => holdsBigint(value))) return values
  const last = new Map(entries.map(entry => [isReordered ? keyOf(entry[0]) : entry[0], entry]))
  return Object.fromEntries([...last.values()].map(([name, value]) => [name, withDigits(value)]))
}

const holdsBigint = (value: unknown): boolean =>
  typeof value === 'bigint' || (Array.isArray(value) && value.some(item => typeof item === 'bigint'))

const withDigits = (value: unknown): unknown =>
  typeof value === 'bigint' ? decimal(value) : Array.isArray(value) ? value.map(withDigits) : value

/** Every sentence of this file, for docs/errors.md. */
export const sentences = ['personalisation <name> items must be strings or numbers'] as const
