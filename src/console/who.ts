// Who may open a page.
import type { Permission } from '../audit/actor.ts'
import type { Handler, ServiceVisit, SignedInVisit, UploadVisit, Visit } from './page.ts'

type Anyone = { kind: 'anyone' }
/** `isFresh`: a sensitive act, which wants a sign-in of the last ten minutes. */
type SignedInOnly = { kind: 'signed-in' | 'operator'; isFresh: boolean }
type Permitted = { kind: 'permission'; permission: Permission; isFresh: boolean }
export type Who = Anyone | SignedInOnly | Permitted

export const anyone: Anyone = { kind: 'anyone' }
export const signedIn: SignedInOnly = { kind: 'signed-in', isFresh: false }
export const operator: SignedInOnly = { kind: 'operator', isFresh: false }
/** On pages of a service: the path begins with `/s/:service`. */
export const may = (permission: Permission): Permitted => ({ kind: 'permission', permission, isFresh: false })
export const fresh = <W extends SignedInOnly | Permitted>(who: W): W => ({ ...who, isFresh: true })

/**
 * The page takes a file: `multipart/form-data`. There is a page with the same path to choose it, where an old form leads. `most`:
 * bytes. `texts`: fields that may be as long as a file, such as pasted text.
 */
export type FileRow = { most: number; texts: readonly string[] }
export const withFile = (most: number, texts: readonly string[] = []): FileRow => ({ most, texts })

export type PageRow =
  | readonly [method: 'GET' | 'POST', path: string, who: Anyone, handler: Handler<Visit>]
  | readonly [method: 'GET' | 'POST', path: string, who: SignedInOnly, handler: Handler<SignedInVisit>]
  | readonly [method: 'GET' | 'POST', path: `/s/:service${string}`, who: Permitted, handler: Handler<ServiceVisit>]
  | readonly [
      method: 'POST',
      path: `/s/:service${string}`,
      who: Permitted,
      handler: Handler<UploadVisit>,
      file: FileRow,
    ]
