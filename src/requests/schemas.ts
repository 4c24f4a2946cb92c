// The query of the request log and its answer.
import { complete, count, id, idOrNull, text, textOrNull, time } from '../http/shapes.ts'

export const STATUS_WORDS = ['2xx', '4xx', '5xx'] as const

export const requestsQuery = {
  type: 'object',
  properties: {
    status: { enum: STATUS_WORDS, description: 'Only requests that were answered so.' },
    key_id: { ...id, description: 'Only requests with this key.' },
    older_than: { ...id, description: 'The id of a request: those before it.' },
  },
  additionalProperties: false,
} as const

const countOrNull = { type: ['integer', 'null'] } as const

export const requestsReply = complete(
  {
    requests: {
      type: 'array',
      items: complete(
        {
          id,
          at: { ...time, description: 'When it was answered.' },
          key_id: idOrNull,
          key_name: textOrNull,
          method: textOrNull,
          path: { ...textOrNull, description: 'With ids, without the query.' },
          status_code: count,
          error: { ...textOrNull, description: 'The name of the error.' },
          message: { ...textOrNull, description: 'Its sentence, with <names> in place of values.' },
          took_ms: countOrNull,
          unlisted: {
            ...countOrNull,
            description:
              'null: this is one request. Otherwise so many requests of this class of statuses were counted at this time and are not listed, because there were too many.',
          },
        },
        'LoggedRequest',
      ),
      description: 'Newest first, 100 at most.',
    },
    links: complete(
      { current: text, next: { ...textOrNull, description: 'null on the last page.' } },
      'RequestPageLinks',
    ),
  },
  'RequestLog',
)

/** For openapi.json. */
export const example = {
  reply: {
    requests: [
      {
        id: '01937e5a-8f3c-7d21-9b4e-2c6f0a1d3e57',
        at: '2026-11-02T14:05:00.123456Z',
        key_id: '01937e5a-1b2c-7e4f-8a9b-0c1d2e3f4a5b',
        key_name: 'website',
        method: 'POST',
        path: '/v2/notifications/email',
        status_code: 400,
        error: 'BadRequestError',
        message: 'Template not found',
        took_ms: 3,
        unlisted: null,
      },
    ],
    links: { current: 'https://herald.example.org/herald/v1/requests', next: null },
  },
} as const
