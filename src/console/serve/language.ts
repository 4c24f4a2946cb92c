// The language of a request until the person is known, and for those who chose none in their account.
import type { FastifyRequest } from 'fastify'
import { acceptedLanguage, type Language, readLanguage } from '../words/index.ts'
import { cookieOf, namesOf } from './cookies.ts'
import { queryOf } from './forms.ts'
import type { Place } from './place.ts'

/** By a link of a page without navigation. */
export const chosenLanguage = (request: FastifyRequest): Language | null =>
  request.method === 'GET' ? readLanguage(queryOf(request).get('language')) : null

/** What was chosen, now or earlier in this browser; else what the browser asks for. */
export const languageOf = (request: FastifyRequest, { kind }: Place): Language =>
  chosenLanguage(request) ??
  readLanguage(cookieOf(request, namesOf(kind !== 'loopback').language)) ??
  acceptedLanguage(request.headers['accept-language'])
