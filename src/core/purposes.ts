// What is sealed, signed and digested, and what for. Every purpose has keys of its own (seal.ts), so a value that was made for one is
// worthless for every other. docs/security.md has the same tables, and a test compares them.

type Stored = { what: string; lifetime: string }

/** Data in the database and in the file store. Whatever sealed it, a secret in HERALD_OLD_SECRETS opens it. */
export const STORED = {
  message: { what: "a message's recipient and values", lifetime: "the service's retention" },
  'provider reply': { what: 'what a provider said about a message', lifetime: "the service's retention" },
  'captured message': { what: "a mail of Herald's own in the captured inbox", lifetime: '7 days' },
  mail: { what: "a mail of Herald's own that waits to be sent; it can contain a link", lifetime: 'until it is sent' },
  'bulk rows': { what: 'rows of a job that are not messages yet', lifetime: 'until the job is spread' },
  'idempotency answer': { what: 'the stored answer to a request with a key', lifetime: '24 hours' },
  'key secret': { what: 'the secret of an API key, which checks signed tokens', lifetime: 'as long as the key' },
  'webhook target': { what: "a webhook's URL, secrets and token", lifetime: 'as long as the webhook' },
  'webhook answer': { what: 'what a receiver answered', lifetime: '7 days' },
  'template samples': { what: "a template's example values", lifetime: 'as long as the template' },
  'template draft': { what: 'a draft that its author previews', lifetime: '7 days' },
  'sheet name': { what: "an uploaded list's file name", lifetime: '7 days, or until it is sent' },
  'sheet piece': { what: 'an uploaded list as it was received', lifetime: 'until the list is read' },
  'sheet head': { what: "an uploaded list's first rows and columns", lifetime: '7 days, or until it is sent' },
  'sheet rows': { what: "an uploaded list's rows", lifetime: '7 days, or until it is sent' },
  'provider test recipient': { what: 'whom a provider test is sent to', lifetime: '1 hour' },
  'provider test answer': { what: 'what the provider said to a test', lifetime: '1 hour' },
  'file key': { what: "the key of an attachment's content", lifetime: "the service's retention" },
  'file key for its scan': {
    what: 'the key of a linked file until the scanner has read it',
    lifetime: 'until the scan',
  },
  'file key for its link': {
    what: "the key of a linked file's content, sealed by the link's token",
    lifetime: 'as long as the file',
  },
  'file name': { what: "a file's name, sealed by the key of its content", lifetime: 'as long as the file' },
  'file content': { what: 'a piece of a file, sealed by the key of its content', lifetime: 'as long as the file' },
  'installation id': { what: "shows that a machine has the installation's secret", lifetime: 'always' },
  'secret check': { what: 'shows that the secret is the one of the database', lifetime: 'always' },
} as const satisfies Record<string, Stored>

/** `seconds`: how long a token is valid. */
type SealedTokenRow = { what: string; seconds: number }

const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400]

/** Tokens that leave the process and can only be read here. Only the current secret opens them. */
export const SEALED_TOKENS = {
  'address change': { what: "a person's new e-mail address, in the link that is sent to it", seconds: 60 * MINUTE },
  'inbox search': { what: "words of a search, in the URL of the console's inbox", seconds: 7 * DAY },
  'known browser': { what: 'a person who has signed in in this browser, in its cookie', seconds: 180 * DAY },
  'passkey sign-in': { what: 'the challenge for signing in, bound to the browser', seconds: 5 * MINUTE },
  'passkey confirmation': {
    what: 'the challenge for confirming who it is, bound to person and browser',
    seconds: 5 * MINUTE,
  },
  'passkey registration': {
    what: 'the challenge for adding a passkey, bound to person and browser',
    seconds: 5 * MINUTE,
  },
  'single sign-on': {
    what: 'the state of a sign-on at the provider, with nonce and PKCE verifier, bound to the browser',
    seconds: 5 * MINUTE,
  },
} as const satisfies Record<string, SealedTokenRow>

/**
 * `seconds`: null where the token carries no time. `secrets`: all, where a token is presented long after a change of the secret.
 * `bytes`: of the signature. `info`: names the key, where versions before purposes made the same token.
 */
type SignedTokenRow = { what: string; seconds: number | null; secrets: 'current' | 'all'; bytes: number; info?: string }

/** Tokens that leave the process in clear text with a signature. */
export const SIGNED_TOKENS = {
  'inbox link': {
    what: 'the link and the cookie of the page /inbox',
    seconds: 24 * HOUR,
    secrets: 'current',
    bytes: 32,
  },
  'return path': {
    what: 'the ID of a message in the address for its bounces, which arrive days later',
    seconds: null,
    secrets: 'all',
    bytes: 8,
    info: 'bounce',
  },
} as const satisfies Record<string, SignedTokenRow>

/** Keyed digests, by which something is found or recognised that cannot be read. */
export const DIGESTS = {
  recipient: { what: "finds a recipient's messages", lifetime: "the service's retention" },
  'key secret': { what: 'finds an API key', lifetime: 'as long as the key' },
  'idempotency key': { what: 'finds the stored answer to a request', lifetime: '24 hours' },
  'idempotency request': { what: 'recognises the request that was answered', lifetime: '24 hours' },
  tries: { what: 'counts attempts by address and by network', lifetime: '15 minutes' },
  'inbox cookie name': { what: 'tells the cookies of two installations on one machine apart', lifetime: 'always' },
} as const satisfies Record<string, Stored>

export type StoredPurpose = keyof typeof STORED
export type SealedToken = keyof typeof SEALED_TOKENS
export type SignedToken = keyof typeof SIGNED_TOKENS
export type DigestPurpose = keyof typeof DIGESTS
