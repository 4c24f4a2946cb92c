// What a page of the console is given, and what it answers. Pages call the verbs of the nouns with the person as actor; they hold
// no SQL and no rules, and know nothing of HTTP.
import type { VNode } from 'preact'
import type { Permission, PersonActor } from '../audit/actor.ts'
import type { Role } from '../audit/role.ts'
import type { Id } from '../core/id.ts'
import type { Parts } from '../parts.ts'
import type { SignedIn } from '../people/person.ts'
import type { ShownService } from '../services/sql.ts'
import type { Formats } from './formats.ts'

/** A page that is open without signing in. */
export type Visit = {
  parts: Parts
  params: Readonly<Record<string, string>>
  query: URLSearchParams
  /** The fields of a POST; empty for a GET. */
  form: URLSearchParams
  /** The address of a page: `url('/s/…')` adds the path of the console. */
  url(path: string): string
  /** Scheme, host and port that the browser uses: of HERALD_BASE_URL, else of the request. `origin + url('/…')` is a whole address. */
  origin: string
  /** The address of this page with its query, without the path of the console. */
  here: string
  /** The hidden field of every form (components/form.tsx writes it). */
  formToken: string
  /** Times and numbers as this person reads them. */
  formats: Formats
  signedIn: SignedIn | null
  /** Of the session's cookie, valid or not; a new session replaces it. */
  sessionToken: string | null
  /** Names the browser: links and challenges are bound to it. */
  browser: string
  /** For limits: of core/network.ts. */
  network: string
  /** The person who is signed in, or who signed in earlier in this browser; null: a stranger. */
  knownAs: Id | null
  /** Resolves when an answer to a request that is slowed down may be sent. */
  slowDown(): Promise<void>
  /** Browser and system in words. */
  device: string
  signal: AbortSignal
}

export type SignedInVisit = Visit & { signedIn: SignedIn; actor: PersonActor }

/** On a page of a service. `role` null: an operator who is not a member. */
export type ServiceVisit = SignedInVisit & {
  service: ShownService
  role: Role | null
  may(permission: Permission): boolean
}

/** The file of a form, as it arrives. It must be read before the page answers. */
export type Upload = {
  /** The name of the field. */
  field: string
  /** Of the file; empty for a text. */
  name: string
  chunks: AsyncIterable<Buffer>
}

/** On a page that takes a file. `form` has the fields that stand before it in the page; `upload` null: no file was chosen. */
export type UploadVisit = ServiceVisit & { upload: Upload | null }

export type PageAnswer = {
  kind: 'page'
  title: string
  body: VNode
  /** narrow: forms and settings; wide: editor and inbox; solo: without navigation, as on signing in. */
  width?: 'narrow' | 'wide' | 'solo'
  status?: number
  /** The browser asks again after this time, also without script. */
  againAfterSeconds?: number
  /** The item of the navigation that is marked. */
  nav?: string
}

/** `later` is made outside the turn at the database, because it waits for the file store or the server of somebody else. */
export type Answer = DirectAnswer | { kind: 'later'; make(): Promise<DirectAnswer> }

export type DirectAnswer =
  | PageAnswer
  /** `session`: a new token for the cookie; null: the cookie is deleted. */
  | { kind: 'redirect'; to: string; session?: string | null }
  /** Elsewhere: the provider of single sign-on. */
  | { kind: 'leave'; to: string }
  /** A part of a page, for the script. */
  | { kind: 'fragment'; body: VNode }
  | { kind: 'json'; data: unknown; status?: number }
  /** An e-mail: a document of its own without scripts, shown in a sandboxed frame. */
  | { kind: 'frame'; html: string }
  /** `isFromStore`: the chunks come from the file store, in turns of its own, and take none of the database. */
  | { kind: 'download'; name: string; type: string; chunks: AsyncIterable<string | Uint8Array>; isFromStore?: true }
  /** A long table from the database, as CSV. A person has few at a time, and waits for the next on a page that says so. */
  | { kind: 'export'; name: string; chunks: AsyncIterable<string | Uint8Array> }
  /** Server-sent events; each value is the data of one. */
  | { kind: 'events'; values: AsyncIterable<unknown> }

export type Handler<V extends Visit> = (visit: V) => Promise<Answer> | Answer
