// What may be said about a provider's reply without quoting it: it may name a person (S-30).

/** The code that a reply begins with; null: there is none. */
export const codeIn = (detail: string): string | null =>
  /^(?:Provider answered )?(\d{3}(?: \d\.\d{1,3}\.\d{1,3})?)(?![\w@.])/.exec(detail)?.[1] ??
  /^request failed: ([A-Z_]{3,40})$/.exec(detail)?.[1] ??
  /^[A-Z][a-z_ ]+ \((0x[0-9a-f]{8})\)$/.exec(detail)?.[1] ??
  null

// The first rule that matches counts. Only the class is kept, never a part of the text.
const RULES: readonly (readonly [RegExp, string])[] = [
  [/\bno provider is up\b/i, 'no provider is up'],
  [/\bin time\b|\btoo long to greet\b|\bETIMEDOUT\b|\bUND_ERR_\w*TIMEOUT\b/i, 'no answer in time'],
  [/\bno TLS connection\b/i, 'TLS connection failed'],
  [/\bECONNREFUSED\b|\bno connection\b|\bnot bound\b|\bnot connected\b/i, 'connection refused'],
  [/\bENOTFOUND\b|\bEAI_AGAIN\b|\bwas not found\b/i, 'host not found'],
  [/\bconnection\b|\bline broken\b|\bECONNRESET\b|\bEPIPE\b|\bUND_ERR_SOCKET\b/i, 'connection lost'],
  [/\bthrottled\b|\brate used up\b/i, 'rate limit'],
  [/\bbeing stopped\b/i, 'stopping'],
  [/\bfiles cannot be read\b/i, 'files not available'],
]

/** A class of replies without personal data, such as `451 4.7.1` or `no answer in time`. */
export const replyClass = (detail: string): string =>
  (/^request failed/.test(detail) ? null : codeIn(detail)) ??
  RULES.find(([words]) => words.test(detail))?.[1] ??
  codeIn(detail) ??
  'other'
