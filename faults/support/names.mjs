// Preloaded into a process: names in the file FAULTS_NAMES ({"name": "address"}, read at each lookup) resolve to the addresses given
// there, so that the answer of the name service can change while the process runs.
import dns from 'node:dns'
import { readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const found = name => JSON.parse(readFileSync(process.env.FAULTS_NAMES ?? '', 'utf8'))[name]
const answer = (address, options) => (options?.all ? [{ address, family: 4 }] : { address, family: 4 })

const { lookup } = dns
const promised = dns.promises.lookup
dns.lookup = (name, options, done) => {
  const callback = typeof options === 'function' ? options : done
  const address = found(name)
  if (address === undefined) return lookup(name, options, done)
  const result = answer(address, typeof options === 'object' ? options : {})
  process.nextTick(() => (Array.isArray(result) ? callback(null, result) : callback(null, address, 4)))
}
dns.promises.lookup = async (name, options) => {
  const address = found(name)
  return address === undefined ? promised(name, options) : answer(address, options)
}
syncBuiltinESMExports()
