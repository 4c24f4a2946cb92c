// Parses SES notifications about a message into receipts (contract 6.4). Both formats: feedback notifications (notificationType) and
// events of a configuration set (eventType).
// https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html
import { cleanLine, cleanRef } from '../clean.ts'
import type { Receipt } from '../port.ts'

type SnsFields = Readonly<Record<string, unknown>>

/** Null: not a notification of SES. An empty list: an event that is not stored (open, click, send). */
export function readNotification(text: string): Receipt[] | null {
  const news = parsed(text)
  const ref = textOf(fieldsOf(news?.mail).messageId)
  const type = textOf(news?.notificationType) ?? textOf(news?.eventType)
  if (!news || !type || !ref || !/^[\w.-]{1,200}$/.test(ref)) return null
  const event = eventOf(type, news)
  if (!event) return []
  const { at, feedbackId, ...rest } = event
  // A delivery has no event id; a repeat has the same timestamp to the millisecond.
  const eventId = cleanRef(feedbackId ?? '') || cleanRef(`${type}:${ref}:${at ?? ''}`)
  return [{ ref, eventId, at: at === null || Number.isNaN(Date.parse(at)) ? null : Date.parse(at), ...rest }]
}

type SesEvent = Pick<Receipt, 'result' | 'detail' | 'response' | 'diagnosis'> & {
  at: string | null
  feedbackId: string | null
}

function eventOf(type: string, news: SnsFields): SesEvent | null {
  switch (type) {
    case 'Delivery': {
      const delivery = fieldsOf(news.delivery)
      return { ...about(delivery), result: 'delivered', detail: null, response: null }
    }
    case 'Bounce': {
      const bounce = fieldsOf(news.bounce)
      return {
        ...about(bounce),
        ...bounceResult(textOf(bounce.bounceType), textOf(bounce.bounceSubType)),
        ...diagnosisIn(bounce.bouncedRecipients),
        response: null,
      }
    }
    case 'Complaint': {
      const complaint = fieldsOf(news.complaint)
      return { ...about(complaint), ...complaintResult(complaint), response: null }
    }
    case 'DeliveryDelay': {
      const delay = fieldsOf(news.deliveryDelay)
      const reason = word(textOf(delay.delayType))
      return { ...about(delay), result: 'pending', detail: reason ? `delayed ${reason}` : 'delayed', response: null }
    }
    // SES found a virus after it had accepted the message.
    case 'Reject': {
      const reason = textOf(fieldsOf(news.reject).reason) ?? 'unknown'
      const response = cleanLine(`Rejected: ${reason}`)
      return { at: null, feedbackId: null, result: 'technical-failure', detail: 'rejected', response }
    }
    default:
      return null
  }
}

/** Of the first recipient that has one; our messages have one recipient. */
function diagnosisIn(recipients: unknown): { diagnosis?: string } {
  const codes = (Array.isArray(recipients) ? recipients : []).map(one => textOf(fieldsOf(one).diagnosticCode))
  const diagnosis = cleanLine(codes.find(code => code !== null) ?? '')
  return diagnosis === '' ? {} : { diagnosis }
}

const about = (event: SnsFields) => ({ at: textOf(event.timestamp), feedbackId: textOf(event.feedbackId) })

const SOFT = new Set(['MailboxFull', 'MessageTooLarge', 'ContentRejected', 'AttachmentRejected'])

function bounceResult(type: string | null, subType: string | null): Pick<Receipt, 'result' | 'detail'> {
  switch (type) {
    case 'Permanent':
      // Shown as Blocked (contract 6.2).
      if (subType === 'Suppressed' || subType === 'OnAccountSuppressionList')
        return { result: 'permanent-failure', detail: 'blocked' }
      return { result: 'permanent-failure', detail: `hard-bounce ${subType === 'NoEmail' ? 'no-email' : 'general'}` }
    case 'Transient':
      return {
        result: 'temporary-failure',
        detail: `soft-bounce ${SOFT.has(subType ?? '') ? word(subType) : 'general'}`,
      }
    case 'Undetermined':
      return { result: 'temporary-failure', detail: 'soft-bounce general' }
    default:
      return { result: 'temporary-failure', detail: 'unknown-bounce unknown-bounce-subtype' }
  }
}

function complaintResult(complaint: SnsFields): Pick<Receipt, 'result' | 'detail'> {
  if (textOf(complaint.complaintSubType) === 'OnAccountSuppressionList')
    return { result: 'permanent-failure', detail: 'blocked' }
  return { result: 'complaint', detail: `complaint ${word(textOf(complaint.complaintFeedbackType)) ?? 'unknown'}` }
}

/** MailboxFull → mailbox-full */
function word(text: string | null): string | null {
  if (text === null || !/^[A-Za-z][\w-]{0,40}$/.test(text)) return null
  return text.replace(/(?<=[a-z])[A-Z]/g, letter => `-${letter}`).toLowerCase()
}

function parsed(text: string): SnsFields | null {
  try {
    return fieldsOf(JSON.parse(text))
  } catch {
    return null
  }
}

const fieldsOf = (value: unknown): SnsFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as SnsFields) : {}
const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
