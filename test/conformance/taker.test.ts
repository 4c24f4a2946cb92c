import { ticketQueue } from '../support/tickets.ts'
import { takerSuite } from './taker.ts'

takerSuite('PostgreSQL', ticketQueue)
