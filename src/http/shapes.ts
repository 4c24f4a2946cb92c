// Building blocks of the schemas of requests and responses. A schema with a title becomes a named component of openapi.json.
export const id = { type: 'string', format: 'uuid' } as const
export const idOrNull = { type: ['string', 'null'], format: 'uuid' } as const
export const text = { type: 'string' } as const
export const textOrNull = { type: ['string', 'null'] } as const
export const count = { type: 'integer' } as const
export const time = { type: 'string', format: 'date-time' } as const
export const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const

/** A response, or a part of one, in which every field is always present. */
export const complete = <T extends Readonly<Record<string, unknown>>>(properties: T, title?: string) => ({
  ...(title && { title }),
  type: 'object' as const,
  properties,
  required: Object.keys(properties),
})
