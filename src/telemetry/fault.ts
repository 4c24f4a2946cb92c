/**
 * The fields of an unexpected error that may be logged; none of them holds a value from a message. Database errors quote rows,
 * and errors of the JavaScript engine quote their input (JSON.parse, BigInt), so their messages are left out.
 */
export function faultOf(error: unknown): { name: string; code?: string; message?: string; stack?: string } {
  if (!(error instanceof Error)) return { name: typeof error }
  const { code } = error as { code?: unknown }
  const fault = { name: error.name, ...(typeof code === 'string' && { code }) }
  if ('severity' in error) return { ...fault, name: 'DatabaseError', stack: frames(error) }
  if (ENGINE.some(kind => error instanceof kind)) return { ...fault, stack: frames(error) }
  return { ...fault, message: error.message.slice(0, 500), stack: frames(error) }
}

const ENGINE = [SyntaxError, TypeError, RangeError, URIError, EvalError]

const frames = (error: Error) =>
  (error.stack ?? '')
    .split('\n')
    .filter(line => line.startsWith('    at '))
    .slice(0, 12)
    .join('\n')
