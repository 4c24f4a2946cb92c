// The requests that benches send, different from each other as real ones are.
import type { House } from './house.ts'
import { request } from './load.ts'

export function emails({ key, templates }: House) {
  return many(n =>
    request(
      'POST',
      '/v2/notifications/email',
      { authorization: `ApiKey-v1 ${key}` },
      {
        email_address: `person.${n}@example.org`,
        template_id: templates.email,
        personalisation: personalisation(n),
        reference: `order-${n}`,
      },
    ),
  )
}

export function texts({ key, templates }: House) {
  return many(n =>
    request(
      'POST',
      '/v2/notifications/sms',
      { authorization: `ApiKey-v1 ${key}` },
      {
        phone_number: `+1613555${1_000 + n}`,
        template_id: templates.sms,
        personalisation: personalisation(n),
        reference: `order-${n}`,
      },
    ),
  )
}

function many(make: (n: number) => string): string[] {
  return Array.from({ length: 1_000 }, (_, n) => make(n))
}

export function personalisation(n: number) {
  return { name: `Ada ${n}`, date: '15 June 2026, 9:30', reference: `A-${n * 7919}` }
}
