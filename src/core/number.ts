// Numbers are formatted the same way in messages, in cells of a bulk job and in error messages (content-rules 2.4).

/** Plain decimal digits, without an exponent. An integer beyond 2^53 is a bigint and keeps all its digits. */
export function decimal(value: number | bigint): string {
  const text = String(value)
  const at = text.indexOf('e')
  if (at === -1) return text
  if (Number.isInteger(value)) return BigInt(value).toString()
  const sign = text.startsWith('-') ? '-' : ''
  const digits = text.slice(sign.length, at).replace('.', '')
  return `${sign}0.${'0'.repeat(-1 - Number(text.slice(at + 1)))}${digits}`
}
