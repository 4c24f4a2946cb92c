// Parts of a captured message as documents of their own: the e-mail in its frame, its source and its attachments as files.
import { readId } from '../../core/id.ts'
import { openAttachment, openCaptured, openSource } from '../../inbox/look.ts'
import { notFound } from '../errors.tsx'
import type { Handler, SignedInVisit } from '../page.ts'
import { appOf, placeOf, readerOf } from './place.ts'

export const capturedFrame: Handler<SignedInVisit> = async visit => {
  const { scope, service } = placeOf(visit)
  const id = readId(visit.params.id)
  if (!id) return notFound(service)
  const { content } = await openCaptured(appOf(visit), visit.actor, scope, service, id)
  return content.channel === 'email' ? { kind: 'frame', html: content.email.html } : notFound(service)
}

/** As an e-mail program opens it. */
export const capturedSource: Handler<SignedInVisit> = async visit => {
  const place = placeOf(visit)
  const { scope, service } = place
  const id = readId(visit.params.id)
  if (!id) return notFound(service)
  const read = await openSource(appOf(visit), readerOf(visit, place), visit.actor, scope, service, id)
  return {
    kind: 'later',
    async make() {
      const { source } = await read()
      if (!source) return notFound(service)
      return { kind: 'download', name: `${id}.eml`, type: 'message/rfc822', chunks: whole(source.source) }
    },
  }
}

async function* whole(text: string) {
  yield text
}

/** Never shown by the browser itself, whatever it is. */
export const capturedFile: Handler<SignedInVisit> = async visit => {
  const { scope, service } = placeOf(visit)
  const { id: text, place = '' } = visit.params
  const id = readId(text)
  const isPlace = /^\d{1,2}$/.test(place)
  const file = id && isPlace && (await openAttachment(appOf(visit), visit.actor, scope, id, Number(place)))
  if (!file) return notFound(service)
  return {
    kind: 'download',
    name: file.filename,
    type: 'application/octet-stream',
    chunks: file.pieces,
    isFromStore: true,
  }
}
