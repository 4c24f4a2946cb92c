import { expect, test } from 'vitest'
import { classOf, LAST_CLASS, percentile, secondsOf } from './took.ts'

test('the middle of a class is within 15 % of every time in it', () => {
  for (let seconds = 0.1; seconds < 8 * 86_400; seconds *= 1.017) {
    const about = secondsOf(classOf(seconds))
    expect(Math.abs(about - seconds) / seconds, `${seconds} s`).toBeLessThan(0.15)
  }
  expect(classOf(-1)).toBe(0)
  expect(classOf(0.05)).toBe(0)
  expect(classOf(1e9)).toBe(LAST_CLASS)
})

test('percentiles of classes', () => {
  const classes = [
    { took: classOf(40), messages: 6 },
    { took: classOf(1), messages: 94 },
  ]
  expect(percentile(classes, 0.5)).toBeCloseTo(1, 0)
  expect(percentile(classes, 0.95)).toBeGreaterThan(34)
  expect(percentile([], 0.5)).toBe(null)
  expect(percentile([{ took: 3, messages: 0 }], 0.5)).toBe(null)
})
