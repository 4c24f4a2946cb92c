import { zulu } from '../core/clock.ts'
import { readable } from './inbox.ts'
import type { WholeCaptured } from './read.ts'
import type { Source } from './source.ts'

export function presentCaptured({ id, at, key_type, content, links, attachments }: WholeCaptured) {
  return {
    id,
    type: content.channel,
    created_at: zulu(at),
    simulated: key_type === 'test',
    ...partsOf(content),
    links,
    attachments: attachments.map(({ filename, mediaType, bytes }) => ({ filename, media_type: mediaType, bytes })),
  }
}

function partsOf(content: WholeCaptured['content']) {
  const { from, to, subject, text, html } = readable(content)
  const isEmail = content.channel === 'email'
  const reply_to = isEmail ? content.email.replyTo : null
  return { from, to, reply_to, subject, text, html, parts: isEmail ? null : content.text.parts }
}

export const presentWhole = (message: WholeCaptured, source: Source | null) => ({
  ...presentCaptured(message),
  headers: source?.headers ?? [],
  source: source?.source ?? null,
})
