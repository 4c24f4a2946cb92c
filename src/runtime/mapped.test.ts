import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { mapped, resized, unmap } from './mapped.ts'

// In a process of its own: other tests take and free memory in ours.
const MEASURE = `
  import { mapped, unmap } from './dist/runtime/mapped.js'
  const MIB = 1024 * 1024
  const before = process.memoryUsage.rss()
  const taken = () => Math.round((process.memoryUsage.rss() - before) / MIB)
  const buffer = mapped(256 * MIB)
  const empty = taken()
  buffer.fill('x')
  const full = taken()
  unmap(buffer)
  console.log(JSON.stringify({ empty, full, unmapped: taken() }))`

test('only what is written takes memory, and it goes back at once', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', MEASURE])
  const { empty, full, unmapped } = JSON.parse(stdout)
  expect(empty).toBeLessThan(64)
  expect(full).toBeGreaterThan(192)
  expect(unmapped).toBeLessThan(64)
})

test('every view of it is empty afterwards, and a second time changes nothing', () => {
  const buffer = mapped(1_000).fill('x')
  const part = buffer.subarray(10, 20)
  unmap(part)
  unmap(buffer)
  expect([buffer.length, part.length]).toEqual([0, 0])
})

test('it keeps its content when it grows and shrinks', () => {
  const small = mapped(3, 1_000)
  small.write('abc')
  const large = resized(small, 1_000)
  expect(large.toString('latin1', 0, 4)).toBe('abc\0')
  expect(resized(large, 2).toString()).toBe('ab')
  expect(() => resized(large, 1_001)).toThrow(RangeError)
})

test('it can be transferred, and unmapped by its new owner only', () => {
  const buffer = mapped(1_000).fill('x')
  const moved = Buffer.from(structuredClone(buffer.buffer, { transfer: [buffer.buffer as ArrayBuffer] }))
  unmap(buffer)
  expect([buffer.length, moved.length, moved.toString('latin1', 998)]).toEqual([0, 1_000, 'xx'])
  unmap(moved)
  expect(moved.length).toBe(0)
})

test('other buffers are left alone', () => {
  const buffer = Buffer.from('abc')
  unmap(buffer)
  unmap(new Uint8Array(new SharedArrayBuffer(3)))
  expect(buffer.toString()).toBe('abc')
})
