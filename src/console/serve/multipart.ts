// Reads a form with a file as a stream: the fields before the file are known when its first byte is, and the rest is read only as
// fast as the page takes it in.
import type { Readable } from 'node:stream'
import { Busboy, type BusboyFileStream } from '@fastify/busboy'
import type { FastifyRequest } from 'fastify'
import { Refusal } from '../../core/refusal.ts'
import type { Upload } from '../page.ts'
import type { FileRow } from '../who.ts'
import { t } from '../words/index.ts'
import { cleaned } from './forms.ts'

const MIB = 1024 * 1024
/** Of a whole request: the file, and this much for other fields. */
export const OTHER_BYTES = MIB
const LIMITS = { fieldNameSize: 200, fieldSize: 64 * 1024, fields: 200, files: 3, parts: 203, headerPairs: 50 }

const MULTIPART = /^\s*multipart\/form-data\s*;.*\bboundary=/i

export const isMultipart = ({ headers }: FastifyRequest) =>
  MULTIPART.test(headers['content-type'] ?? '') && headers['content-encoding'] === undefined

export const tooLargeWords = ({ most }: FileRow) =>
  t`The file is too large. The most is ${Math.floor(most / MIB)} MB. Divide it, and upload the parts one by one.`

export type MultipartForm = {
  /** The fields before the file. Fields after it are not read. */
  form: URLSearchParams
  upload: Upload | null
  /** Ends reading; what is left of the request is discarded. */
  drop(): void
}

/** Resolves at the first byte of the first file, or at the end of an empty one; without a file, at the end of the form. */
export function readMultipart(request: FastifyRequest, row: FileRow): Promise<MultipartForm> {
  const payload = request.body as Readable
  return new Promise((resolve, reject) => {
    const form = new URLSearchParams()
    let current: BusboyFileStream | null = null
    let isFound = false
    // Made here: events of the stream do not know the language of the person.
    const tooLarge = new Refusal('RequestEntityTooLarge', tooLargeWords(row))
    const unreadable = new Refusal('BadRequestError', t`The upload ended early. Choose the file again.`)
    const boy = new Busboy({
      headers: { ...request.headers, 'content-type': request.headers['content-type'] ?? '' },
      limits: { ...LIMITS, fileSize: row.most },
      isPartAFile: (field, _type, name) => name !== undefined || row.texts.includes(field ?? ''),
    })
    const drop = () => {
      payload.unpipe(boy)
      payload.resume()
    }
    const fail = (error: Error) => {
      current?.destroy(error)
      drop()
      reject(error)
    }
    const settle = (upload: Upload | null) => {
      isFound = true
      resolve({ form, upload, drop })
    }

    boy.on('field', (name, value, isNameCut, isCut) => {
      if (isFound) return
      if (isNameCut || isCut) return fail(unreadable)
      form.append(cleaned(name), cleaned(value))
    })
    boy.on('file', (field, stream, name) => {
      stream.on('error', () => {}) // the reader of the stream gets it, too
      if (isFound) {
        stream.resume()
        return
      }
      current = stream
      stream.on('limit', () => stream.destroy(tooLarge))
      // A form with an empty file field sends a file without a name and without a byte.
      const look = () => {
        const first: Buffer | null = stream.read()
        if (first === null) return
        stream.off('readable', look)
        stream.unshift(first)
        settle({ field, name: cleaned(name ?? ''), chunks: chunksOf(stream, unreadable) })
      }
      stream.on('readable', look)
      // A chosen file without a byte has a name.
      stream.on('end', () => {
        if (!isFound && name) settle({ field, name: cleaned(name), chunks: noChunks() })
      })
    })
    boy.on('finish', () => {
      if (!isFound) settle(null)
    })
    boy.on('error', () => fail(unreadable))
    payload.on('error', () => fail(unreadable))
    // A browser that is gone: the form has no end.
    payload.on('close', () => {
      if (!payload.readableEnded) fail(unreadable)
    })
    payload.pipe(boy)
  })
}

async function* noChunks(): AsyncGenerator<Buffer> {}

async function* chunksOf(stream: BusboyFileStream, unreadable: Refusal): AsyncGenerator<Buffer> {
  try {
    yield* stream as AsyncIterable<Buffer>
  } catch (error) {
    throw error instanceof Refusal ? error : unreadable
  }
}
