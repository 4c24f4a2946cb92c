// A certificate authority for one test run, made with openssl, and certificates that are wrong in one respect each.
import { execFileSync } from 'node:child_process'
import { createPrivateKey, sign, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Certificate } from './certificates.ts'

export type Authority = { certificate: string; issue(name: string): Certificate }

export function authority(name: string): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'herald-authority-'))
  const within = <T>(work: (path: (file: string) => string) => T): T => work(file => join(folder, file))
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' })
  try {
    return within(path => {
      const subject = (common: string) => ['-subj', `/CN=${common}`]
      const fresh = ['req', '-newkey', 'rsa:2048', '-nodes']
      openssl(...fresh, '-x509', ...subject(name), '-days', '2', '-keyout', path('ca.key'), '-out', path('ca.pem'))
      const certificate = readFileSync(path('ca.pem'), 'utf8')
      const ca = readFileSync(path('ca.key'), 'utf8')
      return {
        certificate,
        issue(host) {
          const own = mkdtempSync(join(tmpdir(), 'herald-issue-'))
          const at = (file: string) => join(own, file)
          try {
            writeFileSync(at('ca.key'), ca)
            writeFileSync(at('ca.pem'), certificate)
            writeFileSync(at('names'), `subjectAltName=DNS:${host}\n`)
            openssl(...fresh, ...subject(host), '-keyout', at('key'), '-out', at('request'))
            const by = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial']
            const signed = ['-days', '2', '-extfile', at('names'), '-out', at('certificate')]
            openssl('x509', '-req', '-in', at('request'), ...by, ...signed)
            return { key: readFileSync(at('key'), 'utf8'), certificate: readFileSync(at('certificate'), 'utf8') }
          } finally {
            rmSync(own, { recursive: true, force: true })
          }
        },
      }
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The same self-signed certificate, whose last day is over. openssl makes none: the date is replaced, and it is signed again. */
export function expired({ key, certificate }: Certificate, until: Date): Certificate {
  const der = Buffer.from(new X509Certificate(certificate).raw)
  const utcTime = (at: Date) => `${at.toISOString().slice(2, 19).replaceAll(/[-:T]/g, '')}Z`
  // RFC 5280, 4.1: the body, a SEQUENCE with a length of two octets, is followed by the algorithm and a signature of 256 octets.
  const times = [...der.toString('latin1').matchAll(/\x17\x0d\d{12}Z/g)].map(({ index }) => index + 2)
  const begin = new Date(until.getTime() - 86_400_000)
  for (const [index, at] of [begin, until].entries()) der.write(utcTime(at), times[index] ?? 0, 'latin1')
  const body = der.subarray(4, 8 + der.readUInt16BE(6))
  sign('sha256', body, createPrivateKey(key)).copy(der, der.length - 256)
  const pem = der.toString('base64').replaceAll(/(.{64})/g, '$1\n')
  return { key, certificate: `-----BEGIN CERTIFICATE-----\n${pem}\n-----END CERTIFICATE-----\n` }
}
