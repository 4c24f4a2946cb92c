// Whether somebody may open a page; if not, what they see instead.
import type { FastifyRequest } from 'fastify'
import { may as mayDo, type Permission } from '../../audit/actor.ts'
import type { Role } from '../../audit/role.ts'
import { readId } from '../../core/id.ts'
import type { Parts } from '../../parts.ts'
import { actorOf, type SignedIn } from '../../people/person.ts'
import { isFresh } from '../../people/session.ts'
import { isFormToken } from '../../people/token.ts'
import { managersOf, type ShownService, shownService } from '../../services/sql.ts'
import { FORM_TOKEN } from '../components/form.tsx'
import * as say from '../errors.tsx'
import type { Answer, DirectAnswer, Visit } from '../page.ts'
import type { Who } from '../who.ts'
import { t } from '../words/index.ts'
import { isForm, isFromUs, isScripted } from './forms.ts'
import { isMultipart, OTHER_BYTES, tooLargeWords } from './multipart.ts'
import type { Place } from './place.ts'

/** The service of the page. `role` null: an operator who is not a member. */
export type OnService = { service: ShownService; role: Role | null; may(permission: Permission): boolean }

/** What is wrong with a request, before its body is read. */
export function wrongArrival(request: FastifyRequest, place: Place): DirectAnswer | null {
  const { file } = request.routeOptions.config
  if (place.kind === 'needs https') return say.needsHttps()
  if (place.kind === 'needs address') return say.needsAddress()
  if (request.method !== 'POST') return null
  if (!isFromUs(request, place)) return say.foreignForm()
  if (file && !isMultipart(request)) return say.refused(415, [t`This address takes a form with a file.`], null)
  if (file && Number(request.headers['content-length'] ?? 0) > file.most + OTHER_BYTES)
    return say.refused(413, [tooLargeWords(file)], null)
  if (file) return null
  return isForm(request) ? null : say.refused(415, [t`It takes a form as browsers send it, without files.`], null)
}

export type Entry = { refused: Answer; on: OnService | null } | { refused: null; on: OnService | null }

/** `request`: to say whether a script sends it. */
export async function enter(parts: Parts, who: Who, visit: Visit, request: FastifyRequest): Promise<Entry> {
  const { signedIn, form, here } = visit
  const isPost = request.method === 'POST'
  if (who.kind === 'anyone') return { refused: isPost && !hasToken(visit) ? say.oldForm(form, here) : null, on: null }
  const isUpload = request.routeOptions.config.file !== undefined
  // What was entered is kept, but not a file.
  const isKept = isPost && !isUpload
  if (!signedIn) return { refused: isKept ? say.signInToSend(form, here) : toSignIn(request, here), on: null }
  if (who.kind === 'operator' && !signedIn.person.is_operator) return { refused: say.operatorsOnly(), on: null }
  const on = who.kind === 'permission' ? await serviceOf(parts, signedIn, visit.params.service) : null
  if (who.kind === 'permission') {
    if (!on) return { refused: say.notFound(), on }
    if (!on.may(who.permission)) return { refused: await notPermitted(parts, who.permission, on), on }
  }
  if (isPost && !hasToken(visit)) return { refused: isUpload ? say.oldUpload(here) : say.oldForm(form, here), on }
  if (who.isFresh && !isFresh(parts, signedIn.session))
    return { refused: isKept ? say.confirmToSend(form, here) : toConfirm(here), on }
  return { refused: null, on }
}

/** Whether a signed-in person may still have the page, by their rights alone. `service`: of the page. */
export function isPermitted(who: Who, signedIn: SignedIn, service: string | undefined): boolean {
  if (who.kind === 'operator') return signedIn.person.is_operator
  if (who.kind !== 'permission') return true
  const id = readId(service)
  return id !== null && mayDo(actorOf(signedIn, id), who.permission, id)
}

/** Null: there is none, or the person does not belong to it. */
async function serviceOf(parts: Parts, signedIn: SignedIn, text: string | undefined): Promise<OnService | null> {
  const id = readId(text)
  const role = signedIn.memberships.find(one => one.service_id === id)?.role ?? null
  if (!id || (!role && !signedIn.person.is_operator)) return null
  const service = await shownService(parts.db.sql, id)
  const actor = actorOf(signedIn, id)
  return service && { service, role, may: permission => mayDo(actor, permission, id) }
}

const notPermitted = async (parts: Parts, permission: Permission, { service, role }: OnService) =>
  say.notPermitted(permission, service, role, role ? await managersOf(parts.db.sql, service.id) : [])

/** Of the session, or of the browser: a page may be from before somebody signed in. */
function hasToken({ form, browser, sessionToken, signedIn }: Visit): boolean {
  const given = form.get(FORM_TOKEN)
  return isFormToken(browser, given) || (signedIn !== null && isFormToken(sessionToken ?? '', given))
}

/** A script reads the status; a person is led to the page. */
const toSignIn = (request: FastifyRequest, here: string): Answer =>
  isScripted(request)
    ? { kind: 'json', status: 401, data: { error: t`Your session has ended.` } }
    : { kind: 'redirect', to: here === '/' ? '/sign-in' : `/sign-in?return=${encodeURIComponent(here)}` }

const toConfirm = (here: string): Answer => ({
  kind: 'redirect',
  to: `/sign-in/confirm?return=${encodeURIComponent(here)}`,
})
